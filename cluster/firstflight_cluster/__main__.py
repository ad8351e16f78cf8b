"""`python -m firstflight_cluster`."""

import sys

from firstflight_cluster.command import main

sys.exit(main())

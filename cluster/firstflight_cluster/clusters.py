"""The kinds of clusters, each a class of Dask's or of dask-jobqueue's. Here is only what they are told.

Every worker has one thread, for the shard that it races is a process beside it. Each kind has a function that says what its class is
told, which `--print` shows, and one that starts it.
"""

import contextlib
import json
import tempfile

import dask

# Seconds without any worker after which a shard is given up, where workers come at once or never.
PATIENCE = "60 s"


class Local:
    """Workers on this machine: `distributed.LocalCluster`."""

    help = "workers on this machine"

    @staticmethod
    def options(parser):
        parser.add_argument("--workers", type=int, default=2, metavar="N", help="how many [2]")

    @staticmethod
    def told(options, scratch):
        return {
            "n_workers": options.workers,
            "threads_per_worker": 1,
            "processes": True,
            "host": "127.0.0.1",
            "dashboard_address": "127.0.0.1:0",
            "local_directory": scratch,
            # The program's memory is not the worker's.
            "memory_limit": 0,
        }

    @classmethod
    @contextlib.contextmanager
    def start(cls, options):
        from distributed import LocalCluster

        with tempfile.TemporaryDirectory(prefix="firstflight-cluster-") as scratch:
            dask.config.set({"distributed.scheduler.no-workers-timeout": PATIENCE, "temporary-directory": scratch})
            with LocalCluster(**cls.told(options, options.scratch or scratch)) as cluster:
                yield cluster

    @classmethod
    def show(cls, options):
        return json.dumps(cls.told(options, options.scratch), indent=2)


class Ssh:
    """Workers on hosts that SSH reaches: `distributed.SSHCluster`. The scheduler is on the first host."""

    help = "workers on hosts that SSH reaches"

    @staticmethod
    def options(parser):
        parser.add_argument("hosts", nargs="+", metavar="HOST", help="a host; the scheduler runs on the first too")
        parser.add_argument("--workers", type=int, default=1, metavar="N", help="workers on each host [1]")
        parser.add_argument("--user", metavar="NAME", help="the user on the hosts")
        parser.add_argument("--port", type=int, metavar="N", help="the port of SSH")
        parser.add_argument("--python", metavar="FILE", help="Python with Dask on the hosts [this one's path]")

    @staticmethod
    def told(options):
        connect = {"username": options.user, "port": options.port}
        return {
            "hosts": [options.hosts[0], *options.hosts],
            "connect_options": {key: value for key, value in connect.items() if value is not None},
            "worker_options": {
                "nthreads": 1,
                "n_workers": options.workers,
                "memory_limit": 0,
                **({"local_directory": options.scratch} if options.scratch else {}),
            },
            "scheduler_options": {"port": 0, "dashboard_address": ":0"},
            # Nannies start a lost worker again.
            "worker_class": "distributed.Nanny",
            "remote_python": options.python,
        }

    @classmethod
    @contextlib.contextmanager
    def start(cls, options):
        from distributed import SSHCluster

        # SSHCluster hands the configuration on to the hosts, and waits for lines that schedulers and workers log there when they have
        # started. What they log is not shown here.
        dask.config.set({"distributed.scheduler.no-workers-timeout": PATIENCE, "distributed.logging": {"distributed": "info"}})
        with SSHCluster(**cls.told(options)) as cluster:
            yield cluster

    @classmethod
    def show(cls, options):
        return json.dumps(cls.told(options), indent=2)


class Slurm:
    """Workers as jobs of Slurm: `dask_jobqueue.SLURMCluster`. The scheduler is in this process."""

    help = "workers as jobs of Slurm"

    @staticmethod
    def options(parser):
        parser.add_argument("--workers", type=int, required=True, metavar="N", help="how many jobs, a worker each")
        parser.add_argument("--partition", metavar="NAME", help="the partition")
        parser.add_argument("--account", metavar="NAME", help="the account")
        parser.add_argument("--walltime", default="01:00:00", metavar="H:M:S", help="the time limit of a job [01:00:00]")
        parser.add_argument("--memory", default="2GB", metavar="SIZE", help="the memory of a job [2GB]")
        parser.add_argument("--interface", metavar="NAME", help="the network interface that jobs reach this host by")
        parser.add_argument("--directive", action="append", default=[], metavar="TEXT", help="a further #SBATCH line; may be repeated")

    @staticmethod
    def told(options):
        return {
            # One shard at a time, which has as many processors as it has runs at a time.
            "cores": 1,
            "processes": 1,
            "job_cpu": options.jobs,
            "memory": options.memory,
            "queue": options.partition,
            "account": options.account,
            "walltime": options.walltime,
            "interface": options.interface,
            "local_directory": options.scratch,
            "job_name": "firstflight",
            "job_extra_directives": options.directive,
            "scheduler_options": {"dashboard_address": ":0"},
        }

    @classmethod
    @contextlib.contextmanager
    def start(cls, options):
        from dask_jobqueue import SLURMCluster

        with SLURMCluster(**cls.told(options)) as cluster:
            # A job that ended (its time, its node) is handed in again.
            cluster.adapt(minimum_jobs=options.workers, maximum_jobs=options.workers)
            yield cluster

    @classmethod
    def show(cls, options):
        from dask_jobqueue.slurm import SLURMJob

        told = cls.told(options)
        told.pop("scheduler_options")
        # As the script of the jobs, with a placeholder for the scheduler's address.
        return SLURMJob(scheduler="tcp://SCHEDULER", name="firstflight", **told).job_script()


class Kubernetes:
    """Workers as pods: `dask_kubernetes.operator.KubeCluster`, which needs Dask's operator in the cluster."""

    help = "workers as pods of Kubernetes, by Dask's operator"

    @staticmethod
    def options(parser):
        parser.add_argument("--workers", type=int, required=True, metavar="N", help="how many pods, a worker each")
        parser.add_argument("--image", required=True, metavar="IMAGE", help="an image with Dask and the program")
        parser.add_argument("--namespace", default="default", metavar="NAME", help="the namespace [default]")
        parser.add_argument("--name", default="firstflight", metavar="NAME", help="the cluster's name [firstflight]")
        parser.add_argument("--memory", default="2Gi", metavar="SIZE", help="the memory of a pod [2Gi]")

    @staticmethod
    def told(options):
        from dask_kubernetes.operator import make_cluster_spec

        amounts = {"cpu": str(options.jobs), "memory": options.memory}
        worker = ["dask", "worker", "--nthreads", "1", "--memory-limit", "0"]
        if options.scratch:
            worker += ["--local-directory", options.scratch]
        return make_cluster_spec(
            name=options.name,
            image=options.image,
            n_workers=options.workers,
            resources={"requests": amounts, "limits": amounts},
            worker_command=worker,
        )

    @classmethod
    @contextlib.contextmanager
    def start(cls, options):
        from dask_kubernetes.operator import KubeCluster

        with KubeCluster(custom_cluster_spec=cls.told(options), namespace=options.namespace, quiet=True) as cluster:
            yield cluster

    @classmethod
    def show(cls, options):
        return json.dumps(cls.told(options), indent=2)


class Scheduler:
    """The workers of a Dask scheduler that runs already."""

    help = "the workers of a scheduler that runs already"

    @staticmethod
    def options(parser):
        parser.add_argument("address", metavar="ADDRESS", help="its address, as in tcp://head:8786")

    @classmethod
    @contextlib.contextmanager
    def start(cls, options):
        yield options.address

    @classmethod
    def show(cls, options):
        return json.dumps({"address": options.address}, indent=2)


KINDS = {"local": Local, "ssh": Ssh, "slurm": Slurm, "kubernetes": Kubernetes, "scheduler": Scheduler}

package org.cloister.preflight;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** Runs the checks of a role, one after the other, in the order in which a job meets what they look at. */
public final class Doctor {
    private final Role role;
    private final List<Check> checks;

    /** @param libvirt the URI that agent-host will use */
    public Doctor(Role role, String libvirt, RelaySlurm slurm) {
        this.role = role;
        this.checks = switch (role) {
            case HOST -> hostChecks(libvirt);
            case VM -> vmChecks();
            case RELAY -> relayChecks(slurm);
        };
    }

    public List<String> checkNames() {
        return checks.stream().map(Check::name).toList();
    }

    /** @param only names of checks; empty for all */
    public Examination examine(Machine machine, Set<String> only) {
        List<Finding> findings = new ArrayList<>();
        for (Check check : checks) {
            if (only.isEmpty() || only.contains(check.name())) {
                findings.add(examine(machine, check));
            }
        }
        return new Examination(role, findings);
    }

    /** Unknown is not absent: a check that cannot be carried out is a warning with its reason. */
    static Finding examine(Machine machine, Check check) {
        try {
            return check.run(machine);
        } catch (UnknownException e) {
            return Finding.warning(check, "cannot be checked: " + e.reason(), e.mend());
        }
    }

    /** Nothing is encrypted on a host: ESP, device mapper and cryptsetup are its VMs' own. */
    private static List<Check> hostChecks(String libvirt) {
        return List.of(
                new KernelVersion(),
                KernelFeature.on("kernel-tun", Level.FAILURE, "tun", "TUN"),
                KernelFeature.on("kernel-openvswitch", Level.WARNING, "openvswitch", "OPENVSWITCH")
                        .without("bridges need datapath_type=netdev, which is slower"),
                KernelFeature.on("kernel-nf-tables", Level.WARNING, "nf_tables", "NF_TABLES"),
                new Cgroups(),
                new Kvm(),
                new QemuEmulator(),
                new Libvirt(libvirt),
                new QemuSettings(),
                new OpenVswitch(),
                new SecureBridge(),
                Program.needed("nftables", "nft", "nftables"),
                new SlurmClient(),
                new SlurmController(),
                new MemoryLock(),
                new Swap(),
                new SamePageMerging(),
                new CoreDumps(),
                new ClockSynchronised(),
                new JavaRuntime(),
                new ClassArchive());
    }

    private static List<Check> vmChecks() {
        return List.of(
                new KernelVersion(),
                KernelFeature.on("kernel-dm-crypt", Level.FAILURE, "dm_crypt", "DM_CRYPT"),
                KernelFeature.on("kernel-dm-verity", Level.FAILURE, "dm_verity", "DM_VERITY"),
                KernelFeature.on("kernel-esp", Level.FAILURE, "esp4", "INET_ESP"),
                KernelFeature.on("kernel-xfrm-user", Level.FAILURE, "xfrm_user", "XFRM_USER"),
                KernelFeature.on("kernel-nf-tables", Level.FAILURE, "nf_tables", "NF_TABLES"),
                KernelFeature.on("kernel-nfs", Level.FAILURE, "nfsv4", "NFS_V4"),
                Program.needed("nfs-client", "mount.nfs4", "nfs-common"),
                new StrongSwan(),
                new Cryptsetup(),
                Program.needed("slurmd", "slurmd", "slurmd"),
                Program.needed("slurm-client", "srun", "slurm-client"),
                Program.needed("munge", "munged", "munge"),
                new MemoryLock(),
                new UserNamespaces(),
                new HiddenProcesses(),
                new PtraceScope(),
                new RamOverlay(),
                new Swap(),
                new CoreDumps(),
                new ClockSynchronised(),
                new JavaRuntime(),
                new ClassArchive());
    }

    private static List<Check> relayChecks(RelaySlurm slurm) {
        return List.of(
                new KernelVersion(),
                new SlurmClient(),
                Program.needed("slurm-sbatch", "sbatch", "slurm-client"),
                new SlurmController(),
                new SlurmPartition(slurm),
                new SlurmControllers(slurm),
                new SlurmAccounts(slurm),
                new Swap(),
                new CoreDumps(),
                new ClockSynchronised(),
                new JavaRuntime());
    }
}

package org.cloister.preflight;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;
import org.cloister.slurm.TicketJobOptions;

/** Runs the checks of a role, one after the other, in the order in which a job depends on what they examine. */
public final class PreflightChecks {
    private final MachineRole role;
    private final List<PreflightCheck> checks;

    /**
     * Selects the role's checks.
     *
     * @param libvirt the URI that agent-host will use
     */
    public PreflightChecks(MachineRole role, String libvirt, RelaySlurmSettings slurm) {
        this.role = role;
        this.checks = switch (role) {
            case HOST -> hostChecks(libvirt);
            case VM -> vmChecks();
            case RELAY -> relayChecks(slurm);
        };
    }

    public List<String> checkNames() {
        return checks.stream().map(PreflightCheck::name).toList();
    }

    /**
     * Runs the checks.
     *
     * @param only names of checks; empty for all
     */
    public PreflightReport examine(InspectedMachine machine, Set<String> only) {
        List<PreflightFinding> findings = new ArrayList<>();
        for (PreflightCheck check : checks) {
            if (only.isEmpty() || only.contains(check.name())) {
                findings.add(examine(machine, check));
            }
        }
        return new PreflightReport(role, findings);
    }

    /** Runs a check. Unknown is not absent: a check that cannot be carried out is a warning with its reason. */
    static PreflightFinding examine(InspectedMachine machine, PreflightCheck check) {
        try {
            return check.run(machine);
        } catch (UndeterminedException e) {
            return PreflightFinding.warning(check, "cannot be checked: " + e.reason(), e.remedy());
        }
    }

    /** Returns the checks of a host. A host encrypts nothing: ESP, device mapper and cryptsetup are its VMs' own. */
    private static List<PreflightCheck> hostChecks(String libvirt) {
        return List.of(
                new KernelVersionCheck(),
                KernelFeatureCheck.on("kernel-tun", FindingSeverity.FAILURE, "tun", "TUN"),
                KernelFeatureCheck.on("kernel-openvswitch", FindingSeverity.WARNING, "openvswitch", "OPENVSWITCH")
                        .without("bridges need datapath_type=netdev, which is slower"),
                KernelFeatureCheck.on("kernel-nf-tables", FindingSeverity.WARNING, "nf_tables", "NF_TABLES"),
                new CgroupCheck(),
                new KvmCheck(),
                new QemuEmulatorCheck(),
                new LibvirtCheck(libvirt),
                new QemuSettingsCheck(),
                new SelinuxCheck(),
                new OpenVswitchCheck(),
                new SecureBridgeCheck(),
                ProgramCheck.of("nftables", "nft", "nftables"),
                new SlurmClientCheck(),
                new TicketJobOptionsCheck("slurm-srun", "srun", TicketJobOptions.SRUN),
                new SlurmControllerCheck(),
                new SlurmCgroupCheck(),
                new AccountNumbersCheck("cloister-agent-host.conf"),
                new DriveStorageCheck(),
                new MemoryLockCheck(),
                new SwapCheck(),
                new SamePageMergingCheck(),
                new CoreDumpCheck(),
                new ClockCheck(),
                new JavaRuntimeCheck(),
                new ClassArchiveCheck());
    }

    private static List<PreflightCheck> vmChecks() {
        return List.of(
                new KernelVersionCheck(),
                KernelFeatureCheck.on("kernel-dm-crypt", FindingSeverity.FAILURE, "dm_crypt", "DM_CRYPT"),
                KernelFeatureCheck.on("kernel-dm-verity", FindingSeverity.FAILURE, "dm_verity", "DM_VERITY"),
                KernelFeatureCheck.on("kernel-esp", FindingSeverity.FAILURE, "esp4", "INET_ESP"),
                KernelFeatureCheck.on("kernel-xfrm-user", FindingSeverity.FAILURE, "xfrm_user", "XFRM_USER"),
                KernelFeatureCheck.on("kernel-nf-tables", FindingSeverity.FAILURE, "nf_tables", "NF_TABLES"),
                KernelFeatureCheck.on("kernel-nfs", FindingSeverity.FAILURE, "nfsv4", "NFS_V4"),
                ProgramCheck.of("nfs-client", "mount.nfs4", "nfs-common"),
                new StrongSwanCheck(),
                new CryptsetupCheck(),
                ProgramCheck.of("slurmd", "slurmd", "slurmd"),
                ProgramCheck.of("slurm-client", "srun", "slurm-client"),
                ProgramCheck.of("munge", "munged", "munge"),
                new MemoryLockCheck(),
                new UserNamespacesCheck(),
                new HiddenProcessesCheck(),
                new PtraceScopeCheck(),
                new RamOverlayCheck(),
                new SwapCheck(),
                new CoreDumpCheck(),
                new ClockCheck(),
                new JavaRuntimeCheck(),
                new ClassArchiveCheck());
    }

    private static List<PreflightCheck> relayChecks(RelaySlurmSettings slurm) {
        return List.of(
                new KernelVersionCheck(),
                new SlurmClientCheck(),
                new TicketJobOptionsCheck("slurm-sbatch", "sbatch", TicketJobOptions.SBATCH),
                new SlurmControllerCheck(),
                new TicketPartitionCheck(slurm),
                new ControllerPartitionCheck(slurm),
                new SlurmAccountsCheck(slurm),
                new AccountNumbersCheck("cloister-agent-relay.conf"),
                new SwapCheck(),
                new CoreDumpCheck(),
                new ClockCheck(),
                new JavaRuntimeCheck());
    }
}

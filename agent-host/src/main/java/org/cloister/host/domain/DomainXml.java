package org.cloister.host.domain;

import java.util.List;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.ticket.MemoryReserves;

/**
 * Writes the libvirt XML of a domain: direct kernel boot, and no device that a worker or controlling VM does not need.
 * Two settings remain in libvirt's own configuration, which the host's preflight checks: QEMU's system call filter
 * ({@code seccomp_sandbox}), and that libvirt has no cgroups of its own for QEMU ({@code cgroup_controllers = []}).
 */
public final class DomainXml {
    /** XML namespace of Cloister's metadata in a domain. */
    static final String NAMESPACE = "https://cloister.internal/host/1";

    static final String PREFIX = "cloister";
    /** The one element of that metadata. */
    static final String OWNER = "vm";

    private static final int KIB_A_MIB = 1 << 10;

    private final DomainSpec spec;
    private final List<GuestNumaCell> cells;
    private final IndentedXmlWriter xml = new IndentedXmlWriter();

    private DomainXml(DomainSpec spec) {
        this.spec = spec;
        int pageMib = Math.max(1, spec.backing().hugepageKib().orElse(0) / KIB_A_MIB);
        this.cells = List.copyOf(GuestNumaCell.divide(spec.cpus().nodes(), spec.memoryMib(), pageMib));
    }

    public static String of(DomainSpec spec) {
        DomainXml domain = new DomainXml(spec);
        domain.write();
        return domain.xml.toString();
    }

    private void write() {
        xml.open("domain", "type", spec.accelerator().domainType());
        xml.leaf("name", spec.owner().names().domain());
        xml.leaf("uuid", spec.owner().uuid());
        owner(spec.owner());
        // A core dump of QEMU would contain the guest's memory; this excludes it.
        xml.leaf("memory", Integer.toString(spec.memoryMib()), "unit", "MiB", "dumpCore", "off");
        backing();
        cpus();
        boot();
        xml.open("features").empty("acpi").empty("apic");
        features();
        xml.close();
        cpuModel();
        xml.empty("clock", "offset", "utc");
        // A guest that stops for any reason is gone: nothing restarts it, and its host reports it.
        xml.leaf("on_poweroff", "destroy").leaf("on_reboot", "destroy").leaf("on_crash", "destroy");
        new DomainDevicesXml(spec, xml).write();
        spec.launchSecurity().ifPresent(this::launchSecurity);
        xml.close();
    }

    private void owner(ResourceOwner owner) {
        xml.open("metadata").openIn(PREFIX, NAMESPACE, OWNER);
        xml.leaf(PREFIX + ":project", owner.project());
        xml.leaf(PREFIX + ":ticket", owner.ticket());
        xml.leaf(PREFIX + ":slot", Integer.toString(owner.slot()));
        xml.leaf(PREFIX + ":global-job", Long.toString(owner.globalJob()));
        xml.leaf(PREFIX + ":uuid", owner.uuid());
        xml.close().close();
    }

    private void backing() {
        xml.open("memoryBacking");
        spec.backing()
                .hugepageKib()
                .ifPresent(kib -> xml.open("hugepages")
                        .empty("page", "size", Integer.toString(kib), "unit", "KiB")
                        .close());
        // Page merging would reveal one guest's memory to another through the timing of writes to its own pages.
        xml.empty("nosharepages");
        // Protected memory cannot be swapped; QEMU may lock as much as its cgroup permits.
        if (spec.backing().locked() || spec.launchSecurity().isPresent()) {
            xml.empty("locked");
        }
        xml.close();
    }

    private void cpus() {
        CpuPlacement cpus = spec.cpus();
        xml.leaf(
                "vcpu",
                Integer.toString(cpus.count()),
                "placement",
                "static",
                "cpuset",
                cpus.cpus().toString());
        xml.open("cputune");
        for (int vcpu = 0; vcpu < cpus.count(); vcpu++) {
            xml.empty(
                    "vcpupin",
                    "vcpu",
                    Integer.toString(vcpu),
                    "cpuset",
                    cpus.pin(vcpu).toString());
        }
        xml.empty("emulatorpin", "cpuset", cpus.cpus().toString());
        xml.close();
        memoryNodes(cpus);
    }

    /**
     * Writes the host's NUMA nodes of the memory. Where Slurm permits several, those of the CPUs are preferred and not
     * demanded: a job may have more memory than its CPUs' node has.
     */
    private void memoryNodes(CpuPlacement cpus) {
        if (cpus.node().isPresent()) {
            memoryNode("strict", cpus.node().getAsInt());
        } else if (!cells.isEmpty()) {
            xml.open("numatune");
            for (int id = 0; id < cells.size(); id++) {
                xml.empty(
                        "memnode",
                        "cellid",
                        Integer.toString(id),
                        "mode",
                        "preferred",
                        "nodeset",
                        Integer.toString(cells.get(id).node()));
            }
            xml.close();
        } else if (cpus.nodes().size() == 1) {
            memoryNode("preferred", cpus.nodes().get(0).number());
        }
    }

    private void memoryNode(String mode, int node) {
        xml.open("numatune")
                .empty("memory", "mode", mode, "nodeset", Integer.toString(node))
                .close();
    }

    private void boot() {
        DirectKernelBoot boot = spec.boot();
        xml.open("os").leaf("type", "hvm", "arch", "x86_64", "machine", "q35");
        xml.leaf("loader", boot.firmware().toString(), "readonly", "yes", "type", "rom");
        xml.leaf("kernel", boot.kernel().toString());
        xml.leaf("initrd", boot.initrd().toString());
        xml.leaf("cmdline", boot.commandLine());
        xml.close();
    }

    /** Disables what the host's kernel or QEMU would emulate for a guest and no guest of ours uses. */
    private void features() {
        // VMware's port, which passes pointer events to VMware guests.
        xml.empty("vmport", "state", "off");
        // Performance counters: no user of the image may use them (kernel.perf_event_paranoid), and the kernel would
        // emulate them.
        xml.empty("pmu", "state", "off");
        // System management mode: without it the firmware cannot hide code from the guest's kernel.
        xml.empty("smm", "state", "off");
        if (spec.accelerator() == Accelerator.TCG) {
            xml.open("tcg")
                    .leaf("tb-cache", Integer.toString(MemoryReserves.TCG_CODE_MIB), "unit", "MiB")
                    .close();
        }
    }

    private void cpuModel() {
        if (spec.accelerator() == Accelerator.KVM) {
            xml.open("cpu", "mode", spec.accelerator().cpuMode(), "check", "none", "migratable", "off");
        } else {
            xml.open("cpu", "mode", spec.accelerator().cpuMode(), "check", "none");
        }
        // One socket, or one for each NUMA node: the default is one for each CPU, and the guest's Slurm would see as
        // many.
        int sockets = GuestNumaCell.areEven(cells) ? cells.size() : 1;
        xml.empty(
                "topology",
                "sockets",
                Integer.toString(sockets),
                "dies",
                "1",
                "cores",
                Integer.toString(spec.cpus().count() / sockets),
                "threads",
                "1");
        if (spec.accelerator() == Accelerator.TCG) {
            // With this flag guests clear and copy pages by `rep stosb` and `rep movsb`, which QEMU emulates byte by
            // byte. QEMU 10 emulates fsrm, too, and Linux 6.1 fails at its first memmove with that flag alone. QEMU
            // emulates svm in its own process, so svm stays: without it, a guest of QEMU 7.2 does not start
            // Java (ld.so: _dl_get_origin).
            xml.empty("feature", "policy", "disable", "name", "erms");
            xml.empty("feature", "policy", "disable", "name", "fsrm");
        } else {
            // Nested virtualization: with these flags the host's kernel would run the guest's own VMs, and most escapes
            // from KVM were found in that code.
            xml.empty("feature", "policy", "disable", "name", "vmx");
            xml.empty("feature", "policy", "disable", "name", "svm");
        }
        guestNodes();
        xml.close();
    }

    private void guestNodes() {
        if (cells.isEmpty()) {
            return;
        }
        xml.open("numa");
        for (int id = 0; id < cells.size(); id++) {
            GuestNumaCell cell = cells.get(id);
            xml.empty(
                    "cell",
                    "id",
                    Integer.toString(id),
                    "cpus",
                    cell.cpus(),
                    "memory",
                    Integer.toString(cell.memoryMib()),
                    "unit",
                    "MiB");
        }
        xml.close();
    }

    private void launchSecurity(LaunchSecurity security) {
        xml.open("launchSecurity", "type", security.protection().toString(), "kernelHashes", "yes");
        xml.leaf("policy", security.policy());
        xml.close();
    }
}

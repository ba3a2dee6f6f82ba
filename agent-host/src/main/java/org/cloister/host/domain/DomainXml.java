package org.cloister.host.domain;

import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.ticket.MemoryReserves;

/**
 * A domain as libvirt wants it described: direct kernel boot, and no device more than a worker or controlling VM needs.
 * Left to libvirt's own configuration, which the host's preflight looks at: QEMU's system call filter ({@code
 * seccomp_sandbox}), and that libvirt puts QEMU into no control group of its own ({@code cgroup_controllers = []}).
 */
public final class DomainXml {
    /** Of our metadata in a domain. */
    static final String NAMESPACE = "https://cloister.internal/host/1";

    static final String PREFIX = "cloister";
    /** Our metadata's one element. */
    static final String OWNER = "vm";

    private final DomainSpec spec;
    private final IndentedXmlWriter xml = new IndentedXmlWriter();

    private DomainXml(DomainSpec spec) {
        this.spec = spec;
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
        // A core of QEMU would hold the guest's memory; this keeps it out.
        xml.leaf("memory", Integer.toString(spec.memoryMib()), "unit", "MiB", "dumpCore", "off");
        backing();
        cpus();
        boot();
        xml.open("features").empty("acpi").empty("apic");
        features();
        xml.close();
        cpuModel();
        xml.empty("clock", "offset", "utc");
        // A guest that stops for whatever reason is gone: nobody restarts it, its host reports it.
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
        // Same-page merging tells one guest of another's memory by its own pages' times.
        xml.empty("nosharepages");
        // Protected memory cannot be swapped, and QEMU may lock as much as its cgroup holds.
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
            xml.empty("vcpupin", "vcpu", Integer.toString(vcpu), "cpuset", cpus.pin(vcpu));
        }
        xml.empty("emulatorpin", "cpuset", cpus.cpus().toString());
        xml.close();
        cpus.node()
                .ifPresent(node -> xml.open("numatune")
                        .empty("memory", "mode", "strict", "nodeset", Integer.toString(node))
                        .close());
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

    /** Without what the host's kernel or QEMU would emulate for a guest and no guest of ours uses. */
    private void features() {
        // VMware's port, for pointers in its guests.
        xml.empty("vmport", "state", "off");
        // Performance counters: no user of the image may use them (kernel.perf_event_paranoid), and the kernel emulates
        // them.
        xml.empty("pmu", "state", "off");
        // System management mode: the firmware hides nothing from the guest's kernel.
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
        // One socket: the default is one for each CPU, and Slurm in the guest would see as many.
        xml.empty(
                "topology",
                "sockets",
                "1",
                "dies",
                "1",
                "cores",
                Integer.toString(spec.cpus().count()),
                "threads",
                "1");
        if (spec.accelerator() == Accelerator.TCG) {
            // Guests would clear and copy pages by `rep stosb` and `rep movsb`, which QEMU emulates a byte at a time.
            // Its svm is
            // emulated in its own process, and stays: a guest of QEMU 7.2 without it starts no Java (ld.so:
            // _dl_get_origin).
            xml.empty("feature", "policy", "disable", "name", "erms");
        } else {
            // A hypervisor in a guest: with these the host's kernel would run the guest's own VMs, which is where most
            // escapes from KVM were found.
            xml.empty("feature", "policy", "disable", "name", "vmx");
            xml.empty("feature", "policy", "disable", "name", "svm");
        }
        xml.close();
    }

    private void launchSecurity(LaunchSecurity security) {
        xml.open("launchSecurity", "type", security.protection().toString(), "kernelHashes", "yes");
        xml.leaf("policy", security.policy());
        xml.close();
    }
}

package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.cloister.base.address.MacAddress;
import org.cloister.host.vm.ResourceOwner;

/** Domains of all kinds, each with a file of its XML. */
public final class DomainSamples {
    public static final ResourceOwner OWNER = new ResourceOwner(
            "mfrggzdfmztwq2lknnwg23tpobmfrggzdfmztwq2lknnwg23tpoq",
            "mfrggzdfmztwq2lknnwg23tpob",
            3,
            4711,
            "0b7c3f5e-9f8a-4a53-8d0e-6a3b9a1d2c4f");

    /** What only a libvirt of 10.5.0 or newer has a schema for. */
    public static final String SEV_SNP = "sev-snp";

    private static final Path IMAGE = Path.of("/var/lib/cloister/images/1.4.2");
    private static final Path STATE = Path.of("/var/lib/cloister/host");
    private static final LaunchSecurity SEV = new LaunchSecurity(MemoryProtection.SEV, true);
    private static final LaunchSecurity SNP = new LaunchSecurity(MemoryProtection.SEV_SNP, false);

    private DomainSamples() {}

    /** Names of files to domains. */
    public static Map<String, DomainSpec> all() {
        Map<String, DomainSpec> all = new TreeMap<>();
        CpuPlacement node = placement(4, "8-11", OptionalInt.of(1));
        MemoryBacking huge = new MemoryBacking(OptionalInt.of(2048), false);
        all.put("worker-kvm", spec(Accelerator.KVM, node, MemoryBacking.PLAIN, false, Optional.empty(), false));
        all.put(
                "worker-tcg",
                spec(
                        Accelerator.TCG,
                        placement(1, "0", OptionalInt.empty()),
                        MemoryBacking.PLAIN,
                        false,
                        Optional.empty(),
                        false));
        all.put("hugepages", spec(Accelerator.KVM, node, huge, false, Optional.empty(), false));
        all.put(
                "locked-tpm-cores",
                spec(
                        Accelerator.KVM,
                        placement(2, "0-1,64-65", OptionalInt.empty()),
                        new MemoryBacking(OptionalInt.empty(), true),
                        true,
                        Optional.empty(),
                        false));
        CpuPlacement even = placement("0-1,4-5", node(0, "0,4"), node(1, "1,5"));
        CpuPlacement uneven = placement("0-2,8", node(0, "0-2"), node(3, "8"));
        all.put("two-nodes", spec(Accelerator.KVM, even, MemoryBacking.PLAIN, false, Optional.empty(), false));
        all.put("two-nodes-uneven", spec(Accelerator.KVM, uneven, huge, false, Optional.empty(), false));
        CpuPlacement one = placement("8-11", node(1, "8-11"));
        all.put("node-preferred", spec(Accelerator.KVM, one, MemoryBacking.PLAIN, false, Optional.empty(), false));
        all.put("debug-console", spec(Accelerator.TCG, node, MemoryBacking.PLAIN, false, Optional.empty(), true));
        all.put("sev", spec(Accelerator.KVM, node, MemoryBacking.PLAIN, false, Optional.of(SEV), false));
        all.put(SEV_SNP, spec(Accelerator.KVM, node, MemoryBacking.PLAIN, false, Optional.of(SNP), false));
        return all;
    }

    public static DomainSpec sample(String name) {
        DomainSpec sample = all().get(name);
        if (sample == null) {
            throw new IllegalArgumentException("sample: want one of " + all().keySet() + ", have " + name);
        }
        return sample;
    }

    /** An ordinary worker. */
    public static DomainSpec of(ResourceOwner owner) {
        DomainSpec sample = spec(
                Accelerator.KVM,
                placement(1, "0", OptionalInt.empty()),
                MemoryBacking.PLAIN,
                false,
                Optional.empty(),
                false);
        return new DomainSpec(
                owner,
                sample.accelerator(),
                sample.boot(),
                sample.cpus(),
                sample.memoryMib(),
                sample.backing(),
                sample.disks(),
                sample.mac(),
                sample.channel(),
                sample.tpm(),
                sample.launchSecurity(),
                sample.debugConsole());
    }

    static CpuPlacement placement(int count, String cpus, OptionalInt node) {
        return new CpuPlacement(count, CpuSet.parse(cpus), node);
    }

    private static CpuPlacement placement(String cpus, HostNumaNode... nodes) {
        CpuSet all = CpuSet.parse(cpus);
        return new CpuPlacement(all.numbers().size(), all, OptionalInt.empty(), List.of(nodes));
    }

    private static HostNumaNode node(int number, String cpus) {
        return new HostNumaNode(number, CpuSet.parse(cpus));
    }

    static DomainSpec spec(
            Accelerator accelerator,
            CpuPlacement cpus,
            MemoryBacking backing,
            boolean tpm,
            Optional<LaunchSecurity> security,
            boolean debug) {
        Path folder = OWNER.names().folder(STATE);
        return new DomainSpec(
                OWNER,
                accelerator,
                new DirectKernelBoot(
                        IMAGE.resolve("firmware.bin"),
                        IMAGE.resolve("vmlinuz"),
                        IMAGE.resolve("initrd"),
                        "panic=-1 quiet cloister.layer=base,81920," + "0f".repeat(32)),
                cpus,
                4416,
                backing,
                List.of(
                        new DomainDisk(IMAGE.resolve("base.squashfs"), "layer-base", DomainDisk.Use.LAYER),
                        new DomainDisk(folder.resolve("scratch.raw"), "scratch", DomainDisk.Use.WRITABLE)),
                new MacAddress("52:54:00:4d:00:03"),
                folder.resolve("channel"),
                tpm,
                security,
                debug ? Optional.of(folder.resolve("console.log")) : Optional.empty());
    }
}

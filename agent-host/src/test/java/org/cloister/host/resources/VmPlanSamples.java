package org.cloister.host.resources;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.base.encoding.Digest;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.DirectKernelBoot;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.HostNumaNode;
import org.cloister.host.domain.LaunchSecurity;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.domain.MemoryProtection;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.drive.DriveName;
import org.cloister.host.scratch.ScratchFileName;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.ovs.Egress;
import org.cloister.ovs.EgressDestination;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.Ipv6Address;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRate;
import org.cloister.ovs.PortRole;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.policy.HostSharing;

/** Plans with as much and as little as there may be. */
public final class VmPlanSamples {
    public static final ResourceOwner OWNER = new ResourceOwner(
            "mfrggzdfmztwq2lknnwg23tpobmfrggzdfmztwq2lknnwg23tpoq",
            "mfrggzdfmztwq2lknnwg23tpob",
            3,
            4711,
            "0b7c3f5e-9f8a-4a53-8d0e-6a3b9a1d2c4f");

    private static final Path IMAGE = Path.of("/var/lib/cloister/images/1.4.2");
    private static final Path FOLDER = Path.of("/var/lib/cloister/host/vms");
    private static final MacAddress MAC = new MacAddress("52:54:00:4d:00:03");
    private static final int MTU = 1500;
    private static final Digest IDENTITY = Digest.sha384("an image");

    private VmPlanSamples() {}

    public static VmPlan full() {
        DomainDisk scratch = new DomainDisk(
                Path.of("/scratch").resolve(ScratchFileName.of(OWNER)), "scratch", DomainDisk.Use.WRITABLE);
        DomainSpec domain = new DomainSpec(
                OWNER,
                Accelerator.KVM,
                boot(),
                new CpuPlacement(
                        4,
                        CpuSet.parse("8-11"),
                        OptionalInt.empty(),
                        List.of(new HostNumaNode(0, CpuSet.parse("8-9")), new HostNumaNode(1, CpuSet.parse("10-11")))),
                4416,
                new MemoryBacking(OptionalInt.of(2048), true),
                List.of(new DomainDisk(IMAGE.resolve("base.squashfs"), "layer-base", DomainDisk.Use.LAYER), scratch),
                MAC,
                FOLDER.resolve("channel"),
                true,
                Optional.of(new LaunchSecurity(MemoryProtection.SEV, true)),
                Optional.of(FOLDER.resolve("console.log")));
        Endpoint gateway = Endpoint.of(new MacAddress("52:54:00:4d:00:09"), new Ipv4Address("10.7.0.9"));
        PortPlan port = new PortPlan(
                OWNER.names().tap(),
                301,
                new Endpoint(MAC, new Ipv4Address("10.7.0.3"), Ipv6Address.parse("fd00:7::3")),
                PortOwnerLabels.job(OWNER),
                PortRole.WORKER,
                Set.of(
                        Endpoint.of(new MacAddress("52:54:00:4d:00:01"), new Ipv4Address("10.7.0.1")),
                        new Endpoint(
                                new MacAddress("52:54:00:4d:00:02"),
                                new Ipv4Address("10.7.0.2"),
                                Ipv6Address.parse("fd00:7::2"))),
                new Egress(gateway, Set.of(EgressDestination.parse("192.0.2.7:tcp:27000"))),
                new PortRate(100_000, 5_000),
                PortOwnerLabels.owner(OWNER));
        return new VmPlan(domain, port, MTU, OptionalLong.of(1L << 40), IDENTITY, HostSharing.NONE, Optional.empty());
    }

    public static VmPlan plain(ResourceOwner owner) {
        DomainSpec domain = new DomainSpec(
                owner,
                Accelerator.TCG,
                boot(),
                new CpuPlacement(1, CpuSet.parse("0"), OptionalInt.of(0)),
                512,
                MemoryBacking.PLAIN,
                List.of(),
                MAC,
                FOLDER.resolve("channel"),
                false,
                Optional.empty(),
                Optional.empty());
        return new VmPlan(
                domain,
                port(owner, PortOwnerLabels.owner(owner)),
                MTU,
                OptionalLong.empty(),
                IDENTITY,
                HostSharing.ANY,
                Optional.empty());
    }

    /** A controlling VM with its drive. */
    public static VmPlan withDrive(ResourceOwner owner) {
        return on(FOLDER.resolve("channel"), owner, IDENTITY, Optional.of("main"));
    }

    /**
     * A VM of its project alone.
     *
     * @param channel the socket of its port
     * @param drive a controlling VM's; empty for a worker
     */
    public static VmPlan on(Path channel, ResourceOwner owner, Digest image, Optional<String> drive) {
        DomainSpec plain = plain(owner).domain();
        Optional<DriveName> its = drive.map(name -> new DriveName(owner.project(), name));
        List<DomainDisk> disks = its.stream()
                .map(name -> new DomainDisk(
                        Path.of("/drives").resolve(name.file()), VmPlan.DRIVE_SERIAL, DomainDisk.Use.WRITABLE))
                .toList();
        DomainSpec domain = new DomainSpec(
                owner,
                plain.accelerator(),
                plain.boot(),
                plain.cpus(),
                plain.memoryMib(),
                plain.backing(),
                disks,
                plain.mac(),
                channel,
                plain.tpm(),
                plain.launchSecurity(),
                plain.debugConsole());
        return new VmPlan(
                domain,
                port(owner, PortOwnerLabels.owner(owner), its.isPresent() ? PortRole.CONTROLLER : PortRole.WORKER),
                MTU,
                OptionalLong.empty(),
                image,
                HostSharing.PROJECT,
                its.map(name -> new DriveClaim(name, 9)));
    }

    /** As its maker does it. */
    public static void make(VmFolders folders, VmPlan plan, AssignmentMessage.Assigned assignment) throws IOException {
        folders.make(plan, assignment);
    }

    public static AssignmentMessage.Assigned assignment(ResourceOwner owner) {
        return new AssignmentMessage.Assigned(
                WorkerName.of(owner.ticket(), owner.slot(), owner.project()),
                owner.ticket(),
                owner.slot(),
                new CertificateName("c1", "controller", owner.project()),
                List.of(ByteString.copyFromUtf8("{}")));
    }

    static PortPlan port(ResourceOwner owner, String label) {
        return port(owner, label, PortRole.CONTROLLER);
    }

    private static PortPlan port(ResourceOwner owner, String label, PortRole role) {
        return new PortPlan(
                owner.names().tap(),
                1,
                Endpoint.of(MAC, new Ipv4Address("10.7.0.3")),
                PortOwnerLabels.job(owner),
                role,
                Set.of(),
                null,
                null,
                label);
    }

    private static DirectKernelBoot boot() {
        return new DirectKernelBoot(
                IMAGE.resolve("firmware.bin"),
                IMAGE.resolve("vmlinuz"),
                IMAGE.resolve("initrd"),
                "panic=-1 quiet cloister.layer=base,81920," + "0f".repeat(32));
    }
}

package org.cloister.host.machine;

import com.google.protobuf.ByteString;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.host.disk.ScratchName;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.Boot;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.Disk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.LaunchSecurity;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.domain.Protection;
import org.cloister.host.drive.DriveName;
import org.cloister.host.drive.DriveUse;
import org.cloister.host.vm.VmOwner;
import org.cloister.ovs.Destination;
import org.cloister.ovs.Egress;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.Ipv4;
import org.cloister.ovs.Ipv6;
import org.cloister.ovs.Mac;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.Rate;
import org.cloister.ovs.Role;
import org.cloister.protocol.Digest;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.policy.Sharing;

/** Plans with as much and as little as there may be. */
public final class PlanSamples {
    static final VmOwner OWNER = new VmOwner(
            "mfrggzdfmztwq2lknnwg23tpobmfrggzdfmztwq2lknnwg23tpoq",
            "mfrggzdfmztwq2lknnwg23tpob",
            3,
            4711,
            "0b7c3f5e-9f8a-4a53-8d0e-6a3b9a1d2c4f");

    private static final Path IMAGE = Path.of("/var/lib/cloister/images/1.4.2");
    private static final Path FOLDER = Path.of("/var/lib/cloister/host/vms");
    private static final Mac MAC = new Mac("52:54:00:4d:00:03");
    private static final int MTU = 1500;
    private static final Digest IDENTITY = Digest.sha384("an image");

    private PlanSamples() {}

    public static VmPlan full() {
        Disk scratch = new Disk(Path.of("/scratch").resolve(ScratchName.of(OWNER)), "scratch", Disk.Use.WRITABLE);
        DomainSpec domain = new DomainSpec(
                OWNER,
                Accelerator.KVM,
                boot(),
                new CpuPlacement(4, CpuSet.parse("8-11"), OptionalInt.of(1)),
                4416,
                new MemoryBacking(OptionalInt.of(2048), true),
                List.of(new Disk(IMAGE.resolve("base.squashfs"), "layer-base", Disk.Use.LAYER), scratch),
                MAC,
                FOLDER.resolve("channel"),
                true,
                Optional.of(new LaunchSecurity(Protection.SEV, true)),
                Optional.of(FOLDER.resolve("console.log")));
        Endpoint gateway = Endpoint.of(new Mac("52:54:00:4d:00:09"), new Ipv4("10.7.0.9"));
        PortPlan port = new PortPlan(
                OWNER.name().tap(),
                301,
                new Endpoint(MAC, new Ipv4("10.7.0.3"), Ipv6.parse("fd00:7::3")),
                PortMark.job(OWNER),
                Role.WORKER,
                Set.of(
                        Endpoint.of(new Mac("52:54:00:4d:00:01"), new Ipv4("10.7.0.1")),
                        new Endpoint(new Mac("52:54:00:4d:00:02"), new Ipv4("10.7.0.2"), Ipv6.parse("fd00:7::2"))),
                new Egress(gateway, Set.of(Destination.parse("192.0.2.7:tcp:27000"))),
                new Rate(100_000, 5_000),
                PortMark.owner(OWNER));
        return new VmPlan(domain, port, MTU, OptionalLong.of(1L << 40), IDENTITY, Sharing.NONE, Optional.empty());
    }

    public static VmPlan plain(VmOwner owner) {
        DomainSpec domain = new DomainSpec(
                owner,
                Accelerator.TCG,
                boot(),
                new CpuPlacement(1, CpuSet.parse("0"), OptionalInt.empty()),
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
                port(owner, PortMark.owner(owner)),
                MTU,
                OptionalLong.empty(),
                IDENTITY,
                Sharing.ANY,
                Optional.empty());
    }

    /** A controlling VM with its drive. */
    public static VmPlan withDrive(VmOwner owner) {
        VmPlan plain = plain(owner);
        DriveName name = new DriveName(owner.project(), "main");
        DomainSpec domain = plain.domain();
        return new VmPlan(
                new DomainSpec(
                        owner,
                        domain.accelerator(),
                        domain.boot(),
                        domain.cpus(),
                        domain.memoryMib(),
                        domain.backing(),
                        List.of(new Disk(
                                Path.of("/drives").resolve(name.file()), VmPlan.DRIVE_SERIAL, Disk.Use.WRITABLE)),
                        domain.mac(),
                        domain.channel(),
                        domain.tpm(),
                        domain.launchSecurity(),
                        domain.debugConsole()),
                plain.port(),
                plain.mtu(),
                plain.scratchBytes(),
                plain.image(),
                plain.sharing(),
                Optional.of(new DriveUse(name, 9)));
    }

    static AssignmentMessage.Told assignment(VmOwner owner) {
        return new AssignmentMessage.Told(
                SlotName.of(owner.ticket(), owner.slot(), owner.project()),
                owner.ticket(),
                owner.slot(),
                new Name("c1", "controller", owner.project()),
                List.of(ByteString.copyFromUtf8("{}")));
    }

    static PortPlan port(VmOwner owner, String label) {
        return new PortPlan(
                owner.name().tap(),
                1,
                Endpoint.of(MAC, new Ipv4("10.7.0.3")),
                PortMark.job(owner),
                Role.CONTROLLER,
                Set.of(),
                null,
                null,
                label);
    }

    private static Boot boot() {
        return new Boot(
                IMAGE.resolve("firmware.bin"),
                IMAGE.resolve("vmlinuz"),
                IMAGE.resolve("initrd"),
                "panic=-1 quiet cloister.layer=base,81920," + "0f".repeat(32));
    }
}

package org.cloister.lab.host;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.cloister.host.disk.ScratchFolder;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.Boot;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.Disk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.machine.PortMark;
import org.cloister.host.machine.VmFolders;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.vm.VmOwner;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.Ipv4;
import org.cloister.ovs.Mac;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.Role;
import org.cloister.protocol.ImageManifest;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.policy.Sharing;

/** VMs of a host by number, each with the lab's image, two CPUs and a scratch disk. */
public record Plans(VmFolders folders, ScratchFolder scratch, Path image) {
    public static final int VLAN = 333;
    private static final String PROJECT = "mfrggzdfmztwq2lknnwg23tpobmfrggzdfmztwq2lknnwg23tpoq";
    private static final String TICKET_END = "mfrggzdfmztwq2lknn";
    private static final int MEMORY_MIB = 256;
    private static final int MTU = 1500;
    private static final long SCRATCH_BYTES = 16 << 20;
    private static final int STATIONS = 250;

    public static VmOwner owner(int number, long job) {
        StringBuilder ticket = new StringBuilder();
        // Names hold a ticket's first letters.
        for (char digit : String.format(Locale.ROOT, "%08d", number).toCharArray()) {
            ticket.append((char) ('a' + digit - '0'));
        }
        String uuid = UUID.nameUUIDFromBytes(ticket.toString().getBytes(StandardCharsets.US_ASCII))
                .toString();
        return new VmOwner(PROJECT, ticket + TICKET_END, number % 3, job, uuid);
    }

    /** What such a VM is told that it is; of the project it has no document that holds. */
    public static AssignmentMessage.Told assignment(VmOwner owner) {
        return new AssignmentMessage.Told(
                SlotName.of(owner.ticket(), owner.slot(), owner.project()),
                owner.ticket(),
                owner.slot(),
                new Name("c1", "controller", owner.project()),
                List.of(ByteString.copyFromUtf8("{}")));
    }

    public VmPlan plan(int number, long job) throws IOException {
        VmOwner owner = owner(number, job);
        ImageManifest manifest = ImageManifest.load(image);
        List<Disk> disks = new ArrayList<>(Boot.layers(manifest, image));
        disks.add(new Disk(scratch.file(owner), "scratch", Disk.Use.WRITABLE));
        Mac mac = new Mac(String.format(Locale.ROOT, "52:54:00:4d:%02x:%02x", number >> 8, number & 0xff));
        Ipv4 address = new Ipv4("10.77." + number / STATIONS + "." + (number % STATIONS + 1));
        DomainSpec domain = new DomainSpec(
                owner,
                Accelerator.TCG,
                Boot.of(manifest, image),
                new CpuPlacement(2, CpuSet.parse("0-1"), OptionalInt.empty()),
                MEMORY_MIB,
                MemoryBacking.PLAIN,
                disks,
                mac,
                folders.folder(owner).resolve("channel"),
                false,
                Optional.empty(),
                Optional.empty());
        PortPlan port = new PortPlan(
                owner.name().tap(),
                VLAN,
                Endpoint.of(mac, address),
                PortMark.job(owner),
                Role.WORKER,
                Set.of(),
                null,
                null,
                PortMark.owner(owner));
        return new VmPlan(
                domain, port, MTU, OptionalLong.of(SCRATCH_BYTES), manifest.identity(), Sharing.ANY, Optional.empty());
    }
}

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
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.DirectKernelBoot;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.resources.PortOwnerLabels;
import org.cloister.host.resources.VmFolders;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.scratch.ScratchFolder;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRole;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.image.ImageManifest;
import org.cloister.protocol.policy.HostSharing;

/** Plans of a host's VMs by number, each with the lab's image, two CPUs and a scratch disk. */
public record HostVmPlans(VmFolders folders, ScratchFolder scratch, Path image) {
    public static final int VLAN = 333;
    private static final String PROJECT = "mfrggzdfmztwq2lknnwg23tpobmfrggzdfmztwq2lknnwg23tpoq";
    private static final String TICKET_END = "mfrggzdfmztwq2lknn";
    private static final int MEMORY_MIB = 256;
    private static final int MTU = 1500;
    private static final long SCRATCH_BYTES = 16 << 20;
    private static final int STATIONS = 250;

    public static ResourceOwner owner(int number, long job) {
        StringBuilder ticket = new StringBuilder();
        // Names contain a ticket's first letters.
        for (char digit : String.format(Locale.ROOT, "%08d", number).toCharArray()) {
            ticket.append((char) ('a' + digit - '0'));
        }
        String uuid = UUID.nameUUIDFromBytes(ticket.toString().getBytes(StandardCharsets.US_ASCII))
                .toString();
        return new ResourceOwner(PROJECT, ticket + TICKET_END, number % 3, job, uuid);
    }

    /** Returns the assignment of such a VM; it has no valid document of the project. */
    public static AssignmentMessage.Assigned assignment(ResourceOwner owner) {
        return new AssignmentMessage.Assigned(
                WorkerName.of(owner.ticket(), owner.slot(), owner.project()),
                owner.ticket(),
                owner.slot(),
                new CertificateName("c1", "controller", owner.project()),
                List.of(ByteString.copyFromUtf8("{}")));
    }

    public VmPlan plan(int number, long job) throws IOException {
        ResourceOwner owner = owner(number, job);
        ImageManifest manifest = ImageManifest.load(image);
        List<DomainDisk> disks = new ArrayList<>(DirectKernelBoot.layers(manifest, image));
        disks.add(new DomainDisk(scratch.file(owner), "scratch", DomainDisk.Use.WRITABLE));
        MacAddress mac =
                new MacAddress(String.format(Locale.ROOT, "52:54:00:4d:%02x:%02x", number >> 8, number & 0xff));
        Ipv4Address address = new Ipv4Address("10.77." + number / STATIONS + "." + (number % STATIONS + 1));
        DomainSpec domain = new DomainSpec(
                owner,
                Accelerator.TCG,
                DirectKernelBoot.of(manifest, image),
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
                owner.names().tap(),
                VLAN,
                Endpoint.of(mac, address),
                PortOwnerLabels.job(owner),
                PortRole.WORKER,
                Set.of(),
                null,
                null,
                PortOwnerLabels.owner(owner));
        return new VmPlan(
                domain,
                port,
                MTU,
                OptionalLong.of(SCRATCH_BYTES),
                manifest.identity(),
                HostSharing.ANY,
                Optional.empty());
    }
}

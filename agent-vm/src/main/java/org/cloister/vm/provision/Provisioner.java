package org.cloister.vm.provision;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;
import org.cloister.ipsec.Identity;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.handover.Accounts;
import org.cloister.protocol.handover.FolderPath;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Job;
import org.cloister.protocol.handover.Mac;
import org.cloister.protocol.handover.Mount;
import org.cloister.protocol.handover.Node;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.handover.Station;
import org.cloister.protocol.handover.User;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Slot;
import org.cloister.vm.handover.Giver;
import org.cloister.vm.handover.Guest;
import org.cloister.vm.opening.VmAuthority;
import org.cloister.vm.storage.Export;
import org.cloister.vm.tunnel.Machine;
import org.cloister.vm.users.Member;
import org.cloister.vm.users.Members;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives workers what the project has for them. A worker's storage is its job user's: the export makes every request that
 * user's, whatever the worker says. Not for several threads.
 */
public final class Provisioner implements Giver {
    private static final Logger LOG = LoggerFactory.getLogger(Provisioner.class);
    /** Before the point in a SubjectPublicKeyInfo of P-384. */
    private static final int SPKI_HEAD = 23;

    private static final int MAC_BYTES = 6;
    private static final byte[] MAC_HEAD = {0x52, 0x54};

    private final Terms terms;
    private final Access access;
    private final Owners owners;
    private final Supplier<Members> members;
    private final Sealing sealing;
    private final InstantSource clock;
    private final Map<String, Set<Visit>> visits = new HashMap<>();
    /** Whose visits could not all be dismissed. */
    private final Set<String> leaving = new HashSet<>();

    private record Visit(Machine machine, Export export) {}

    /**
     * What every worker of the project is told alike.
     *
     * @param station the controlling VM's own
     * @param cluster the Local Slurm's name
     * @param port of slurmctld
     * @param policy SHA-384 of the owners' in force
     * @param homes the folder of all homes, as in the controlling VM
     * @param mounts of the project's storage; {@code export} as the one root of the export has it
     */
    public record Terms(
            Name controller,
            VmAuthority authority,
            Digest policy,
            Station station,
            String cluster,
            int port,
            String homes,
            List<Mount> mounts,
            Duration lease) {
        public Terms {
            mounts = List.copyOf(mounts);
        }
    }

    /** Whose job a ticket is for. */
    @FunctionalInterface
    public interface Owners {
        OptionalInt uidOf(String ticket);
    }

    /**
     * @param hpke of this process
     * @param mungeKey stays its owner's
     */
    public record Sealing(Hpke hpke, SecretMemory mungeKey) {}

    /** @param members as they are when a worker comes */
    public Provisioner(
            Terms terms,
            Access access,
            Owners owners,
            Supplier<Members> members,
            Sealing sealing,
            InstantSource clock) {
        this.terms = terms;
        this.access = access;
        this.owners = owners;
        this.members = members;
        this.sealing = sealing;
        this.clock = clock;
    }

    @Override
    public HandOver give(Place place, Allocation allocation, Slot slot, Statement statement) throws IOException {
        Member owner = owner(place.ticket());
        Name worker = SlotName.of(place.ticket(), place.slot(), terms.controller.project());
        HandOver handOver = handOver(place, allocation, slot, statement, worker, owner);
        admit(place.ticket(), visit(worker, slot.address(), owner.uid(), owner.gid()));
        return handOver;
    }

    @Override
    public boolean isWelcome(Guest guest) {
        return members.get().list().stream().anyMatch(member -> member.uid() == guest.uid());
    }

    @Override
    public Readmission readmit(Guest guest, Nonce fresh, boolean key) throws IOException {
        Name worker = SlotName.of(guest.ticket(), guest.slot(), terms.controller.project());
        Place place = new Place(guest.ticket(), guest.slot(), guest.vm(), fresh);
        Instant now = clock.instant();
        Readmission readmission = new Readmission(
                place,
                certified(worker, guest.keys().signing(), now),
                key
                        ? Optional.of(sealed(
                                SealingContext.readmission(worker.project(), place),
                                guest.keys().sealing()))
                        : Optional.empty(),
                now,
                terms.lease,
                terms.policy);
        admit(guest.ticket(), visit(worker, guest.address(), guest.uid(), guest.gid()));
        return readmission;
    }

    /** Noted first, so that whatever is made is undone. */
    private void admit(String ticket, Visit visit) throws IOException {
        visits.computeIfAbsent(ticket, id -> new LinkedHashSet<>()).add(visit);
        access.admit(visit.machine, visit.export);
    }

    @Override
    public void dismiss(String ticket) {
        Set<Visit> left = new LinkedHashSet<>();
        for (Visit visit : visits.getOrDefault(ticket, Set.of())) {
            try {
                access.dismiss(visit.machine, visit.export);
            } catch (IOException e) {
                LOG.error("worker {}: not kept out yet: {}", visit.machine.name(), e.getMessage());
                left.add(visit);
            }
        }
        visits.remove(ticket);
        leaving.remove(ticket);
        if (!left.isEmpty()) {
            visits.put(ticket, left);
            leaving.add(ticket);
        }
    }

    /** Tries again what {@link #dismiss} could not do. @return whether nothing is left of it */
    public boolean retry() {
        List.copyOf(leaving).forEach(this::dismiss);
        return leaving.isEmpty();
    }

    private Member owner(String ticket) throws IOException {
        OptionalInt uid = owners.uidOf(ticket);
        if (uid.isEmpty()) {
            throw new IOException("ticket " + ticket + ": want a job of the queue, have none");
        }
        return members.get().list().stream()
                .filter(member -> member.uid() == uid.getAsInt())
                .findFirst()
                .orElseThrow(() -> new IOException("ticket " + ticket + ": want a member's job, have that of uid "
                        + uid.getAsInt() + ", who is none"));
    }

    private HandOver handOver(
            Place place, Allocation allocation, Slot slot, Statement statement, Name worker, Member owner)
            throws IOException {
        try {
            return new HandOver(
                    place,
                    certified(worker, statement.claim().keys().signing(), clock.instant()),
                    sealed(
                            SealingContext.handOver(terms.controller.project(), place),
                            statement.claim().keys().sealing()),
                    clock.instant(),
                    station(slot.address()),
                    terms.controller,
                    new Job(
                            allocation.slots().stream()
                                    .map(each -> new Node(each.slot(), each.address()))
                                    .toList(),
                            terms.cluster,
                            terms.port),
                    accounts(owner),
                    terms.mounts,
                    terms.lease,
                    terms.policy,
                    allocation.digest());
        } catch (IllegalArgumentException e) {
            throw new IOException("hand-over to " + worker + ": " + e.getMessage(), e);
        }
    }

    private List<ByteString> certified(Name worker, VerificationKey key, Instant now) throws IOException {
        return terms.authority.certify(worker, key, now).stream()
                .map(ByteString::copyFrom)
                .toList();
    }

    private static Visit visit(Name worker, Address at, int uid, int gid) {
        org.cloister.ipsec.Address address = new org.cloister.ipsec.Address(at.toString());
        return new Visit(
                new Machine(worker.id(), Identity.worker(worker.id(), worker.project()), address),
                new Export(address, uid, gid, false));
    }

    /** As hosts make it: the MAC follows from the address. */
    private Station station(Address address) {
        byte[] mac = ByteBuffer.allocate(MAC_BYTES)
                .put(MAC_HEAD)
                .putInt(address.bits())
                .array();
        return new Station(terms.station.network(), address, terms.station.mtu(), new Mac(ByteString.copyFrom(mac)));
    }

    private Accounts accounts(Member owner) {
        return new Accounts(
                members.get().list().stream()
                        .map(member -> new User(
                                member.login(),
                                member.uid(),
                                member.gid(),
                                new FolderPath(terms.homes + "/" + member.login())))
                        .toList(),
                owner.gid(),
                owner.uid());
    }

    private SealedSecret sealed(byte[] info, VerificationKey sealingKey) throws IOException {
        byte[] spki = sealingKey.encoded();
        SealingPublicKey receiver = SealingPublicKey.of(Arrays.copyOfRange(spki, SPKI_HEAD, spki.length));
        return new SealedSecret(ByteString.copyFrom(sealing.hpke.seal(receiver, info, new byte[0], sealing.mungeKey)));
    }
}

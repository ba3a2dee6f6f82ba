package org.cloister.vm.controller.provision;

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
import org.cloister.base.encoding.Digest;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.FolderPath;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.JobNode;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.VmMacAddress;
import org.cloister.protocol.handover.VmNetworkConfig;
import org.cloister.protocol.handover.WorkerAccounts;
import org.cloister.protocol.handover.WorkerJob;
import org.cloister.protocol.handover.WorkerMount;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.handover.WorkerUser;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.vm.controller.admission.AdmittedWorker;
import org.cloister.vm.controller.admission.Provisioner;
import org.cloister.vm.controller.storage.NfsExport;
import org.cloister.vm.controller.unlock.ControllerAuthority;
import org.cloister.vm.system.tunnel.TunnelPeer;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Provides workers with network access, storage and hand-over documents. A worker's storage access is that of its job's
 * user: the export maps every request to that user, regardless of the user in the request. Not thread-safe.
 */
public final class WorkerProvisioner implements Provisioner {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerProvisioner.class);
    /** Length of what precedes the point in a SubjectPublicKeyInfo of P-384. */
    private static final int SPKI_HEAD = 23;

    private static final int MAC_BYTES = 6;
    private static final byte[] MAC_HEAD = {0x52, 0x54};

    private final Settings terms;
    private final WorkerAccess access;
    private final TicketOwners owners;
    private final Supplier<ProjectMembers> members;
    private final KeySealing sealing;
    private final InstantSource clock;
    private final Map<String, Set<GrantedAccess>> visits = new HashMap<>();
    /** Tickets whose access could not be revoked completely. */
    private final Set<String> leaving = new HashSet<>();

    private record GrantedAccess(TunnelPeer machine, NfsExport export) {}

    /**
     * Settings that all workers of the project get alike.
     *
     * @param station the controlling VM's network configuration
     * @param cluster the Local Slurm's name
     * @param port of slurmctld
     * @param policy SHA-384 of the owners' policy in force
     * @param homes folder of all homes, as in the controlling VM
     * @param mounts of the project's storage; {@code export} is a path below the one exported root
     */
    public record Settings(
            CertificateName controller,
            ControllerAuthority authority,
            Digest policy,
            VmNetworkConfig station,
            String cluster,
            int port,
            String homes,
            List<WorkerMount> mounts,
            Duration lease) {
        public Settings {
            mounts = List.copyOf(mounts);
        }
    }

    /** Returns the UID of the user whose job a ticket is for. */
    @FunctionalInterface
    public interface TicketOwners {
        OptionalInt uidOf(String ticket);
    }

    /**
     * Seals the munge key to workers.
     *
     * @param hpke of this process
     * @param mungeKey closed by its owner
     */
    public record KeySealing(Hpke hpke, SecretMemory mungeKey) {}

    /** @param members returns the members at the time a worker connects */
    public WorkerProvisioner(
            Settings terms,
            WorkerAccess access,
            TicketOwners owners,
            Supplier<ProjectMembers> members,
            KeySealing sealing,
            InstantSource clock) {
        this.terms = terms;
        this.access = access;
        this.owners = owners;
        this.members = members;
        this.sealing = sealing;
        this.clock = clock;
    }

    @Override
    public HandoverDocument provision(
            HandoverTarget place, Allocation allocation, AllocatedSlot slot, EvidenceStatement statement)
            throws IOException {
        ProjectMember owner = owner(place.ticket());
        CertificateName worker = WorkerName.of(place.ticket(), place.slot(), terms.controller.project());
        HandoverDocument handOver = handOver(place, allocation, slot, statement, worker, owner);
        admit(place.ticket(), visit(worker, slot.address(), owner.uid(), owner.gid()));
        return handOver;
    }

    @Override
    public boolean isUserAllowed(AdmittedWorker guest) {
        return members.get().list().stream().anyMatch(member -> member.uid() == guest.uid());
    }

    @Override
    public ReadmissionGrant readmit(AdmittedWorker guest, Nonce fresh, boolean key) throws IOException {
        CertificateName worker = WorkerName.of(guest.ticket(), guest.slot(), terms.controller.project());
        HandoverTarget place = new HandoverTarget(guest.ticket(), guest.slot(), guest.vm(), fresh);
        Instant now = clock.instant();
        ReadmissionGrant readmission = new ReadmissionGrant(
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

    /** Recorded first, so that whatever is created is undone. */
    private void admit(String ticket, GrantedAccess visit) throws IOException {
        visits.computeIfAbsent(ticket, id -> new LinkedHashSet<>()).add(visit);
        access.grant(visit.machine, visit.export);
    }

    @Override
    public void revokeAccess(String ticket) {
        Set<GrantedAccess> left = new LinkedHashSet<>();
        for (GrantedAccess visit : visits.getOrDefault(ticket, Set.of())) {
            try {
                access.revoke(visit.machine, visit.export);
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

    /**
     * Retries what {@link #revokeAccess} could not do.
     *
     * @return whether nothing remains
     */
    public boolean retryRevocations() {
        List.copyOf(leaving).forEach(this::revokeAccess);
        return leaving.isEmpty();
    }

    private ProjectMember owner(String ticket) throws IOException {
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

    private HandoverDocument handOver(
            HandoverTarget place,
            Allocation allocation,
            AllocatedSlot slot,
            EvidenceStatement statement,
            CertificateName worker,
            ProjectMember owner)
            throws IOException {
        try {
            return new HandoverDocument(
                    place,
                    certified(worker, statement.claim().keys().signing(), clock.instant()),
                    sealed(
                            SealingContext.handOver(terms.controller.project(), place),
                            statement.claim().keys().sealing()),
                    clock.instant(),
                    station(slot.address()),
                    terms.controller,
                    new WorkerJob(
                            allocation.slots().stream()
                                    .map(each -> new JobNode(each.slot(), each.address()))
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

    private List<ByteString> certified(CertificateName worker, VerificationKey key, Instant now) throws IOException {
        return terms.authority.issue(worker, key, now).stream()
                .map(ByteString::copyFrom)
                .toList();
    }

    private static GrantedAccess visit(CertificateName worker, ProjectAddress at, int uid, int gid) {
        org.cloister.ipsec.TunnelAddress address = new org.cloister.ipsec.TunnelAddress(at.toString());
        return new GrantedAccess(
                new TunnelPeer(worker.id(), TunnelIdentity.worker(worker.id(), worker.project()), address),
                new NfsExport(address, uid, gid, false));
    }

    /** Returns the network configuration as hosts compute it: the MAC address follows from the IP address. */
    private VmNetworkConfig station(ProjectAddress address) {
        byte[] mac = ByteBuffer.allocate(MAC_BYTES)
                .put(MAC_HEAD)
                .putInt(address.bits())
                .array();
        return new VmNetworkConfig(
                terms.station.network(), address, terms.station.mtu(), new VmMacAddress(ByteString.copyFrom(mac)));
    }

    private WorkerAccounts accounts(ProjectMember owner) {
        return new WorkerAccounts(
                members.get().list().stream()
                        .map(member -> new WorkerUser(
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

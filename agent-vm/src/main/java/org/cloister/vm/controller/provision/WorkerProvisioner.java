package org.cloister.vm.controller.provision;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
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
import org.cloister.base.address.Ipv4Address;
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

    private final Settings settings;
    private final WorkerAccess access;
    private final TicketOwners owners;
    private final Supplier<ProjectMembers> members;
    private final KeySealing sealing;
    private final InstantSource clock;
    private final Map<String, Set<WorkerAccess.Grant>> grants = new HashMap<>();
    /** Tickets whose access could not be revoked completely. */
    private final Set<String> unrevoked = new HashSet<>();

    /**
     * Settings that all workers of the project get alike.
     *
     * @param network the controlling VM's network configuration
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
            VmNetworkConfig network,
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
            Settings settings,
            WorkerAccess access,
            TicketOwners owners,
            Supplier<ProjectMembers> members,
            KeySealing sealing,
            InstantSource clock) {
        this.settings = settings;
        this.access = access;
        this.owners = owners;
        this.members = members;
        this.sealing = sealing;
        this.clock = clock;
    }

    @Override
    public HandoverDocument createHandover(
            HandoverTarget target, Allocation allocation, AllocatedSlot slot, EvidenceStatement statement)
            throws IOException {
        ProjectMember owner = owner(target.ticket());
        CertificateName worker = WorkerName.of(target.ticket(), target.slot(), settings.controller.project());
        return createHandover(target, allocation, slot, statement, worker, owner);
    }

    @Override
    public boolean isUserAllowed(AdmittedWorker admitted) {
        return members.get().list().stream().anyMatch(member -> member.uid() == admitted.uid());
    }

    @Override
    public ReadmissionGrant createReadmission(AdmittedWorker admitted, Nonce nonce, boolean key) throws IOException {
        CertificateName worker = WorkerName.of(admitted.ticket(), admitted.slot(), settings.controller.project());
        HandoverTarget target = new HandoverTarget(admitted.ticket(), admitted.slot(), admitted.vm(), nonce);
        Instant now = clock.instant();
        return new ReadmissionGrant(
                target,
                certificates(worker, admitted.keys().signing(), now),
                key
                        ? Optional.of(sealMungeKey(
                                SealingContext.readmission(worker.project(), target),
                                admitted.keys().sealing()))
                        : Optional.empty(),
                now,
                settings.lease,
                settings.policy);
    }

    /** Recorded first, so that whatever is created is undone. */
    @Override
    public void grantAccess(List<AdmittedWorker> workers) throws IOException {
        List<WorkerAccess.Grant> granted = new ArrayList<>();
        for (AdmittedWorker worker : workers) {
            WorkerAccess.Grant grant = grantFor(worker);
            grants.computeIfAbsent(worker.ticket(), id -> new LinkedHashSet<>()).add(grant);
            granted.add(grant);
        }
        access.grant(granted);
    }

    @Override
    public void revokeAccess(String ticket) {
        Set<WorkerAccess.Grant> granted = grants.getOrDefault(ticket, Set.of());
        try {
            if (!granted.isEmpty()) {
                access.revoke(granted);
            }
            grants.remove(ticket);
            unrevoked.remove(ticket);
        } catch (IOException e) {
            LOG.error("ticket {}: its workers' access cannot be revoked: {}; retrying", ticket, e.getMessage());
            unrevoked.add(ticket);
        }
    }

    /**
     * Retries what {@link #revokeAccess} could not do.
     *
     * @return whether nothing remains
     */
    public boolean retryRevocations() {
        List.copyOf(unrevoked).forEach(this::revokeAccess);
        return unrevoked.isEmpty();
    }

    private ProjectMember owner(String ticket) throws IOException {
        OptionalInt uid = owners.uidOf(ticket);
        if (uid.isEmpty()) {
            throw new IOException("ticket " + ticket + ": the queue has no job for it");
        }
        return members.get().list().stream()
                .filter(member -> member.uid() == uid.getAsInt())
                .findFirst()
                .orElseThrow(() -> new IOException(
                        "ticket " + ticket + ": its job belongs to uid " + uid.getAsInt() + ", who is not a member"));
    }

    private HandoverDocument createHandover(
            HandoverTarget target,
            Allocation allocation,
            AllocatedSlot slot,
            EvidenceStatement statement,
            CertificateName worker,
            ProjectMember owner)
            throws IOException {
        try {
            return new HandoverDocument(
                    target,
                    certificates(worker, statement.claim().keys().signing(), clock.instant()),
                    sealMungeKey(
                            SealingContext.handOver(settings.controller.project(), target),
                            statement.claim().keys().sealing()),
                    clock.instant(),
                    networkConfig(slot.address()),
                    settings.controller,
                    new WorkerJob(
                            allocation.slots().stream()
                                    .map(each -> new JobNode(each.slot(), each.address()))
                                    .toList(),
                            settings.cluster,
                            settings.port),
                    accounts(owner),
                    settings.mounts,
                    settings.lease,
                    settings.policy,
                    allocation.digest());
        } catch (IllegalArgumentException e) {
            throw new IOException("hand-over to " + worker + ": " + e.getMessage(), e);
        }
    }

    private List<ByteString> certificates(CertificateName worker, VerificationKey key, Instant now) throws IOException {
        return settings.authority.issue(worker, key, now).stream()
                .map(ByteString::copyFrom)
                .toList();
    }

    private WorkerAccess.Grant grantFor(AdmittedWorker admitted) {
        CertificateName worker = WorkerName.of(admitted.ticket(), admitted.slot(), settings.controller.project());
        Ipv4Address address = new Ipv4Address(admitted.address().toString());
        return new WorkerAccess.Grant(
                new TunnelPeer(worker.id(), TunnelIdentity.worker(worker.id(), worker.project()), address),
                new NfsExport(address, admitted.uid(), admitted.gid(), false));
    }

    /** Returns the network configuration as hosts compute it: the MAC address follows from the IP address. */
    private VmNetworkConfig networkConfig(ProjectAddress address) {
        byte[] mac = ByteBuffer.allocate(MAC_BYTES)
                .put(MAC_HEAD)
                .putInt(address.bits())
                .array();
        return new VmNetworkConfig(
                settings.network.network(),
                address,
                settings.network.mtu(),
                new VmMacAddress(ByteString.copyFrom(mac)));
    }

    private WorkerAccounts accounts(ProjectMember owner) {
        return new WorkerAccounts(
                members.get().list().stream()
                        .map(member -> new WorkerUser(
                                member.login(),
                                member.uid(),
                                member.gid(),
                                new FolderPath(settings.homes + "/" + member.login())))
                        .toList(),
                owner.gid(),
                owner.uid());
    }

    private SealedSecret sealMungeKey(byte[] info, VerificationKey sealingKey) throws IOException {
        byte[] spki = sealingKey.encoded();
        SealingPublicKey receiver = SealingPublicKey.of(Arrays.copyOfRange(spki, SPKI_HEAD, spki.length));
        return new SealedSecret(ByteString.copyFrom(sealing.hpke.seal(receiver, info, new byte[0], sealing.mungeKey)));
    }
}

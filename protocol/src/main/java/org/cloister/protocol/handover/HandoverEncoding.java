package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;

/** Converts the long messages of a verifier between their records and Protocol Buffers. */
final class HandoverEncoding {
    private HandoverEncoding() {}

    static HandoverDocument read(org.cloister.protocol.handover.wire.HandOver wire) throws MalformedException {
        WorkerJob job = new WorkerJob(
                wire.getNodesList().stream().map(JobNode::read).toList(), wire.getCluster(), wire.getPort());
        return new HandoverDocument(
                new HandoverTarget(wire.getTicket(), wire.getSlot(), wire.getVm(), nonce(wire.getNonce())),
                wire.getCertificatesList(),
                SealedSecret.munge(wire.getMungeKey()),
                Instant.ofEpochMilli(wire.getTime()),
                VmNetworkConfig.read(wire.getNetwork(), job.address(wire.getSlot())),
                CertificateName.parse(wire.getController()),
                job,
                new WorkerAccounts(
                        wire.getUsersList().stream().map(WorkerUser::read).toList(),
                        wire.getProjectGid(),
                        wire.getJobUid()),
                wire.getMountsList().stream().map(WorkerMount::read).toList(),
                Duration.ofSeconds(HandoverChecks.unsigned(wire.getLease())),
                Digest.of(Digest.Algorithm.SHA384, wire.getPolicy().toByteArray()),
                Digest.of(Digest.Algorithm.SHA256, wire.getDigest().toByteArray()));
    }

    static org.cloister.protocol.handover.wire.HandOver of(HandoverDocument handOver) {
        return org.cloister.protocol.handover.wire.HandOver.newBuilder()
                .setTicket(handOver.target().ticket())
                .setSlot(handOver.target().slot())
                .setVm(handOver.target().vm())
                .setNonce(bytes(handOver.target().nonce()))
                .addAllCertificates(handOver.certificates())
                .setMungeKey(handOver.mungeKey().bytes())
                .setTime(handOver.time().toEpochMilli())
                .setNetwork(handOver.network().wire())
                .setController(handOver.controller().toString())
                .addAllNodes(handOver.job().nodes().stream().map(JobNode::wire).toList())
                .setCluster(handOver.job().cluster())
                .setPort(handOver.job().port())
                .addAllUsers(handOver.accounts().users().stream()
                        .map(WorkerUser::wire)
                        .toList())
                .setProjectGid(handOver.accounts().projectGid())
                .setJobUid(handOver.accounts().jobUid())
                .addAllMounts(handOver.mounts().stream().map(WorkerMount::wire).toList())
                .setLease((int) handOver.lease().toSeconds())
                .setPolicy(ByteString.copyFrom(handOver.policy().bytes()))
                .setDigest(ByteString.copyFrom(handOver.digest().bytes()))
                .build();
    }

    static ReadmissionGrant read(org.cloister.protocol.handover.wire.Readmission wire) throws MalformedException {
        return new ReadmissionGrant(
                new HandoverTarget(wire.getTicket(), wire.getSlot(), wire.getVm(), nonce(wire.getFresh())),
                wire.getCertificatesList(),
                wire.hasMungeKey() ? Optional.of(SealedSecret.munge(wire.getMungeKey())) : Optional.empty(),
                Instant.ofEpochMilli(wire.getTime()),
                Duration.ofSeconds(HandoverChecks.unsigned(wire.getLease())),
                Digest.of(Digest.Algorithm.SHA384, wire.getPolicy().toByteArray()));
    }

    static org.cloister.protocol.handover.wire.Readmission of(ReadmissionGrant readmission) {
        org.cloister.protocol.handover.wire.Readmission.Builder wire =
                org.cloister.protocol.handover.wire.Readmission.newBuilder()
                        .setTicket(readmission.target().ticket())
                        .setSlot(readmission.target().slot())
                        .setVm(readmission.target().vm())
                        .setFresh(bytes(readmission.target().nonce()))
                        .addAllCertificates(readmission.certificates())
                        .setTime(readmission.time().toEpochMilli())
                        .setLease((int) readmission.lease().toSeconds())
                        .setPolicy(ByteString.copyFrom(readmission.policy().bytes()));
        readmission.mungeKey().ifPresent(key -> wire.setMungeKey(key.bytes()));
        return wire.build();
    }

    static ProjectUnlock read(org.cloister.protocol.handover.wire.Unlock wire) throws MalformedException {
        HandoverChecks.within("site keys", wire.getSiteKeysCount(), 1, ProjectUnlock.MAX_SITE_KEYS);
        List<VerificationKey> site = new ArrayList<>();
        for (ByteString each : wire.getSiteKeysList()) {
            site.add(VerificationKey.parse(each.toByteArray()));
        }
        ProjectAddress address =
                ProjectSubnet.parse(wire.getNetwork().getNetwork()).controller();
        return new ProjectUnlock(
                new HandoverTarget(wire.getOpening(), 0, wire.getVm(), nonce(wire.getNonce())),
                wire.getAuthoritiesList(),
                wire.getDocumentsList(),
                wire.getPolicy(),
                site,
                wire.getEpoch(),
                SealedSecret.drive(wire.getDriveKey()),
                wire.getCreate(),
                Instant.ofEpochMilli(wire.getTime()),
                VmNetworkConfig.read(wire.getNetwork(), address),
                wire.hasMembers() ? Optional.of(wire.getMembers()) : Optional.empty(),
                wire.hasSettings() ? Optional.of(wire.getSettings()) : Optional.empty());
    }

    static org.cloister.protocol.handover.wire.Unlock of(ProjectUnlock unlock) {
        org.cloister.protocol.handover.wire.Unlock.Builder wire =
                org.cloister.protocol.handover.wire.Unlock.newBuilder()
                        .setOpening(unlock.target().ticket())
                        .setVm(unlock.target().vm())
                        .setNonce(bytes(unlock.target().nonce()))
                        .addAllAuthorities(unlock.authorities())
                        .addAllDocuments(unlock.documents())
                        .setPolicy(unlock.policy())
                        .addAllSiteKeys(unlock.siteKeys().stream()
                                .map(key -> ByteString.copyFrom(key.encoded()))
                                .toList())
                        .setEpoch(unlock.epoch())
                        .setDriveKey(unlock.driveKey().bytes())
                        .setCreate(unlock.create())
                        .setTime(unlock.time().toEpochMilli())
                        .setNetwork(unlock.network().wire());
        unlock.members().ifPresent(wire::setMembers);
        unlock.settings().ifPresent(wire::setSettings);
        return wire.build();
    }

    static Nonce nonce(ByteString bytes) {
        HandoverChecks.within("bytes of the nonce", bytes.size(), Nonce.BYTES, Nonce.BYTES);
        return new Nonce(BinaryText.base64(bytes.toByteArray()));
    }

    static ByteString bytes(Nonce nonce) {
        return ByteString.copyFrom(BinaryText.fromBase64(nonce.base64(), Nonce.BYTES));
    }
}

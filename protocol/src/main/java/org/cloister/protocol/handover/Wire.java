package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Network;

/** The long messages of a verifier, between their records and Protocol Buffers. */
final class Wire {
    private Wire() {}

    static HandOver read(org.cloister.protocol.handover.wire.HandOver wire) throws MalformedException {
        Job job = new Job(wire.getNodesList().stream().map(Node::read).toList(), wire.getCluster(), wire.getPort());
        return new HandOver(
                new Place(wire.getTicket(), wire.getSlot(), wire.getVm(), nonce(wire.getNonce())),
                wire.getCertificatesList(),
                SealedSecret.munge(wire.getMungeKey()),
                Instant.ofEpochMilli(wire.getTime()),
                Station.read(wire.getNetwork(), job.address(wire.getSlot())),
                Name.parse(wire.getController()),
                job,
                new Accounts(
                        wire.getUsersList().stream().map(User::read).toList(), wire.getProjectGid(), wire.getJobUid()),
                wire.getMountsList().stream().map(Mount::read).toList(),
                Duration.ofSeconds(Require.unsigned(wire.getLease())),
                Digest.of(Digest.Algorithm.SHA384, wire.getPolicy().toByteArray()),
                Digest.of(Digest.Algorithm.SHA256, wire.getDigest().toByteArray()));
    }

    static org.cloister.protocol.handover.wire.HandOver of(HandOver handOver) {
        return org.cloister.protocol.handover.wire.HandOver.newBuilder()
                .setTicket(handOver.place().ticket())
                .setSlot(handOver.place().slot())
                .setVm(handOver.place().vm())
                .setNonce(bytes(handOver.place().nonce()))
                .addAllCertificates(handOver.certificates())
                .setMungeKey(handOver.mungeKey().bytes())
                .setTime(handOver.time().toEpochMilli())
                .setNetwork(handOver.station().wire())
                .setController(handOver.controller().toString())
                .addAllNodes(handOver.job().nodes().stream().map(Node::wire).toList())
                .setCluster(handOver.job().cluster())
                .setPort(handOver.job().port())
                .addAllUsers(
                        handOver.accounts().users().stream().map(User::wire).toList())
                .setProjectGid(handOver.accounts().projectGid())
                .setJobUid(handOver.accounts().jobUid())
                .addAllMounts(handOver.mounts().stream().map(Mount::wire).toList())
                .setLease((int) handOver.lease().toSeconds())
                .setPolicy(ByteString.copyFrom(handOver.policy().bytes()))
                .setDigest(ByteString.copyFrom(handOver.digest().bytes()))
                .build();
    }

    static Readmission read(org.cloister.protocol.handover.wire.Readmission wire) throws MalformedException {
        return new Readmission(
                new Place(wire.getTicket(), wire.getSlot(), wire.getVm(), nonce(wire.getFresh())),
                wire.getCertificatesList(),
                wire.hasMungeKey() ? Optional.of(SealedSecret.munge(wire.getMungeKey())) : Optional.empty(),
                Instant.ofEpochMilli(wire.getTime()),
                Duration.ofSeconds(Require.unsigned(wire.getLease())),
                Digest.of(Digest.Algorithm.SHA384, wire.getPolicy().toByteArray()));
    }

    static org.cloister.protocol.handover.wire.Readmission of(Readmission readmission) {
        org.cloister.protocol.handover.wire.Readmission.Builder wire =
                org.cloister.protocol.handover.wire.Readmission.newBuilder()
                        .setTicket(readmission.place().ticket())
                        .setSlot(readmission.place().slot())
                        .setVm(readmission.place().vm())
                        .setFresh(bytes(readmission.place().nonce()))
                        .addAllCertificates(readmission.certificates())
                        .setTime(readmission.time().toEpochMilli())
                        .setLease((int) readmission.lease().toSeconds())
                        .setPolicy(ByteString.copyFrom(readmission.policy().bytes()));
        readmission.mungeKey().ifPresent(key -> wire.setMungeKey(key.bytes()));
        return wire.build();
    }

    static Unlock read(org.cloister.protocol.handover.wire.Unlock wire) throws MalformedException {
        Require.within("site keys", wire.getSiteKeysCount(), 1, Unlock.MAX_SITE_KEYS);
        List<VerificationKey> site = new ArrayList<>();
        for (ByteString each : wire.getSiteKeysList()) {
            site.add(VerificationKey.parse(each.toByteArray()));
        }
        Address address = Network.parse(wire.getNetwork().getNetwork()).controller();
        return new Unlock(
                new Place(wire.getOpening(), 0, wire.getVm(), nonce(wire.getNonce())),
                wire.getAuthoritiesList(),
                wire.getDocumentsList(),
                wire.getPolicy(),
                site,
                wire.getEpoch(),
                SealedSecret.drive(wire.getDriveKey()),
                wire.getCreate(),
                Instant.ofEpochMilli(wire.getTime()),
                Station.read(wire.getNetwork(), address),
                wire.hasMembers() ? Optional.of(wire.getMembers()) : Optional.empty(),
                wire.hasSettings() ? Optional.of(wire.getSettings()) : Optional.empty());
    }

    static org.cloister.protocol.handover.wire.Unlock of(Unlock unlock) {
        org.cloister.protocol.handover.wire.Unlock.Builder wire =
                org.cloister.protocol.handover.wire.Unlock.newBuilder()
                        .setOpening(unlock.place().ticket())
                        .setVm(unlock.place().vm())
                        .setNonce(bytes(unlock.place().nonce()))
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
                        .setNetwork(unlock.station().wire());
        unlock.members().ifPresent(wire::setMembers);
        unlock.settings().ifPresent(wire::setSettings);
        return wire.build();
    }

    static Nonce nonce(ByteString bytes) {
        Require.within("bytes of the nonce", bytes.size(), Nonce.BYTES, Nonce.BYTES);
        return new Nonce(BinaryText.base64(bytes.toByteArray()));
    }

    static ByteString bytes(Nonce nonce) {
        return ByteString.copyFrom(BinaryText.fromBase64(nonce.base64(), Nonce.BYTES));
    }
}

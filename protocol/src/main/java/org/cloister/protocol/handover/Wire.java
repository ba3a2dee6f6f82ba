package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Network;

/** The two long messages of a verifier, between their records and Protocol Buffers. */
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
                Digest.of(Digest.Algorithm.SHA384, wire.getPolicy().toByteArray()));
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
                .build();
    }

    static Unlock read(org.cloister.protocol.handover.wire.Unlock wire) {
        Address address = Network.parse(wire.getNetwork().getNetwork()).controller();
        return new Unlock(
                new Place(wire.getOpening(), 0, wire.getVm(), nonce(wire.getNonce())),
                wire.getAuthoritiesList(),
                wire.getDocumentsList(),
                wire.getPolicy(),
                wire.getEpoch(),
                SealedSecret.drive(wire.getDriveKey()),
                wire.getCreate(),
                Instant.ofEpochMilli(wire.getTime()),
                Station.read(wire.getNetwork(), address));
    }

    static org.cloister.protocol.handover.wire.Unlock of(Unlock unlock) {
        return org.cloister.protocol.handover.wire.Unlock.newBuilder()
                .setOpening(unlock.place().ticket())
                .setVm(unlock.place().vm())
                .setNonce(bytes(unlock.place().nonce()))
                .addAllAuthorities(unlock.authorities())
                .addAllDocuments(unlock.documents())
                .setPolicy(unlock.policy())
                .setEpoch(unlock.epoch())
                .setDriveKey(unlock.driveKey().bytes())
                .setCreate(unlock.create())
                .setTime(unlock.time().toEpochMilli())
                .setNetwork(unlock.station().wire())
                .build();
    }

    static Nonce nonce(ByteString bytes) {
        Require.within("bytes of the nonce", bytes.size(), Nonce.BYTES, Nonce.BYTES);
        return new Nonce(BinaryText.base64(bytes.toByteArray()));
    }

    static ByteString bytes(Nonce nonce) {
        return ByteString.copyFrom(BinaryText.fromBase64(nonce.base64(), Nonce.BYTES));
    }
}

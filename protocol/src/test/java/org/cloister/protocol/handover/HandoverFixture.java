package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;

/** A hand-over and an unlocking as they would be in a {@link BootFixture}. */
public final class HandoverFixture {
    static final Nonce NONCE = new Nonce(BinaryText.base64(new byte[Nonce.BYTES]));
    static final String VM = "tq4bcfcxfokh6sbolidgqd2f3i";

    private static final ProjectSubnet NETWORK = ProjectSubnet.parse("10.64.12.0/22");

    public final BootFixture world;

    public HandoverFixture() throws IOException, GeneralSecurityException {
        this(new BootFixture());
    }

    HandoverFixture(BootFixture world) {
        this.world = world;
    }

    public HandoverDocument handOver() {
        return new HandoverDocument(
                new HandoverTarget(BootFixture.TICKET, 3, VM, NONCE),
                world.workerChain.stream().map(ByteString::copyFrom).toList(),
                SealedSecret.munge(ByteString.copyFrom(new byte[97 + 128 + 16])),
                BootFixture.NOW,
                new VmNetworkConfig(NETWORK, ProjectAddress.parse("10.64.12.5"), 1450, mac()),
                world.controller,
                new WorkerJob(
                        List.of(
                                new JobNode(2, ProjectAddress.parse("10.64.12.4")),
                                new JobNode(3, ProjectAddress.parse("10.64.12.5"))),
                        "local",
                        6817),
                new WorkerAccounts(
                        List.of(
                                new WorkerUser("ann", 1001, 1000, new FolderPath("/home/ann")),
                                new WorkerUser("ben", 1002, 1000, new FolderPath("/home/ben"))),
                        1000,
                        1002),
                List.of(
                        new WorkerMount(new FolderPath("/drive/homes"), new FolderPath("/home"), false),
                        new WorkerMount(new FolderPath("/drive/software"), new FolderPath("/project/software"), true)),
                Duration.ofHours(8),
                Digest.sha384("policy"),
                Digest.sha256(new byte[1]));
    }

    public ReadmissionGrant readmission() {
        return new ReadmissionGrant(
                new HandoverTarget(BootFixture.TICKET, 3, VM, NONCE),
                world.workerChain.stream().map(ByteString::copyFrom).toList(),
                Optional.of(SealedSecret.munge(ByteString.copyFrom(new byte[97 + 128 + 16]))),
                BootFixture.NOW,
                Duration.ofHours(8),
                Digest.sha384("policy"));
    }

    public ProjectUnlock unlock() throws IOException, GeneralSecurityException {
        DsseEnvelope policy = DsseEnvelope.sign(
                ProjectPolicy.TYPE, new byte[2], SigningKey.of(BootFixture.pair(SignatureCurve.P384)));
        return new ProjectUnlock(
                new HandoverTarget(BootFixture.OPENING, 0, VM, NONCE),
                world.authorities.stream().map(ByteString::copyFrom).toList(),
                world.documents(),
                ByteString.copyFrom(policy.bytes()),
                List.of(SigningKey.of(BootFixture.pair(SignatureCurve.P256)).verificationKey()),
                7,
                SealedSecret.drive(ByteString.copyFrom(new byte[97 + 64 + 16])),
                false,
                BootFixture.NOW,
                new VmNetworkConfig(NETWORK, ProjectAddress.parse("10.64.12.1"), 1450, mac()),
                Optional.of(ByteString.copyFromUtf8("[[member]]\nlogin = \"ann\"\nuid = 1001\ngid = 1000\n")),
                Optional.of(ByteString.copyFromUtf8("[[shape]]\nhosts = 4\ncpus = 16\nmemory-mib = 65536\n")));
    }

    private static VmMacAddress mac() {
        return new VmMacAddress(ByteString.copyFrom(new byte[] {0x52, 0x54, 10, 64, 12, 5}));
    }
}

package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Network;

/** A hand-over and an unlocking as they would be in a {@link BootWorld}. */
public final class HandOverWorld {
    static final Nonce NONCE = new Nonce(BinaryText.base64(new byte[Nonce.BYTES]));
    static final String VM = "tq4bcfcxfokh6sbolidgqd2f3i";

    private static final Network NETWORK = Network.parse("10.64.12.0/22");

    public final BootWorld world;

    public HandOverWorld() throws IOException, GeneralSecurityException {
        this(new BootWorld());
    }

    HandOverWorld(BootWorld world) {
        this.world = world;
    }

    public HandOver handOver() {
        return new HandOver(
                new Place(BootWorld.TICKET, 3, VM, NONCE),
                world.workerChain.stream().map(ByteString::copyFrom).toList(),
                SealedSecret.munge(ByteString.copyFrom(new byte[97 + 128 + 16])),
                BootWorld.NOW,
                new Station(NETWORK, Address.parse("10.64.12.5"), 1450, mac()),
                world.controller,
                new Job(
                        List.of(new Node(2, Address.parse("10.64.12.4")), new Node(3, Address.parse("10.64.12.5"))),
                        "local",
                        6817),
                new Accounts(
                        List.of(
                                new User("ann", 1001, 1000, new FolderPath("/home/ann")),
                                new User("ben", 1002, 1000, new FolderPath("/home/ben"))),
                        1000,
                        1002),
                List.of(
                        new Mount(new FolderPath("/drive/homes"), new FolderPath("/home"), false),
                        new Mount(new FolderPath("/drive/software"), new FolderPath("/project/software"), true)),
                Duration.ofHours(8),
                Digest.sha384("policy"),
                Digest.sha256(new byte[1]));
    }

    public Readmission readmission() {
        return new Readmission(
                new Place(BootWorld.TICKET, 3, VM, NONCE),
                world.workerChain.stream().map(ByteString::copyFrom).toList(),
                Optional.of(SealedSecret.munge(ByteString.copyFrom(new byte[97 + 128 + 16]))),
                BootWorld.NOW,
                Duration.ofHours(8),
                Digest.sha384("policy"));
    }

    public Unlock unlock() throws IOException, GeneralSecurityException {
        Envelope policy = Envelope.sign(Policy.TYPE, new byte[2], SigningKey.of(BootWorld.pair(Curve.P384)));
        return new Unlock(
                new Place(BootWorld.OPENING, 0, VM, NONCE),
                world.authorities.stream().map(ByteString::copyFrom).toList(),
                world.documents(),
                ByteString.copyFrom(policy.bytes()),
                List.of(SigningKey.of(BootWorld.pair(Curve.P256)).verificationKey()),
                7,
                SealedSecret.drive(ByteString.copyFrom(new byte[97 + 64 + 16])),
                false,
                BootWorld.NOW,
                new Station(NETWORK, Address.parse("10.64.12.1"), 1450, mac()),
                Optional.of(ByteString.copyFromUtf8("[[member]]\nlogin = \"ann\"\nuid = 1001\ngid = 1000\n")),
                Optional.of(ByteString.copyFromUtf8("[[shape]]\nhosts = 4\ncpus = 16\nmemory-mib = 65536\n")));
    }

    private static Mac mac() {
        return new Mac(ByteString.copyFrom(new byte[] {0x52, 0x54, 10, 64, 12, 5}));
    }
}

package org.cloister.vm.opening;

import com.google.protobuf.ByteString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.luks.key.Crypto;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.Mac;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.Station;
import org.cloister.protocol.handover.Unlock;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Network;
import org.cloister.protocol.ticket.Opening;
import org.cloister.vm.boot.BootKeyPairs;

/** A project of which all is well, its opener cat, and a controlling VM that boots. What a test changes is a field. */
public final class OpeningWorld {
    public static final Instant NOW = BootWorld.NOW;
    public static final String VM = "tq4bcfcxfokh6sbolidgqd2f3i";
    public static final Digest IMAGE = Digest.sha384("image");
    public static final Network NETWORK = Network.parse("10.64.12.0/22");

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int SPKI_HEAD = 23;

    public final Secrets secrets = Secrets.open(Secrets.Locking.RUN_WITHOUT_LOCKED_MEMORY);
    public final Crypto crypto = Crypto.load(secrets);
    public final BootKeyPairs keys = BootKeyPairs.make(secrets, RANDOM);
    public final BootWorld.Project made = BootWorld.project(3);
    /** Of the site, whose relays give nodes. */
    public final SigningKey site = SigningKey.of(BootWorld.pair(Curve.P256));

    public final SigningKey host = SigningKey.of(BootWorld.pair(Curve.P256));
    public final Name controller =
            Opening.controller(BootWorld.DRIVE, made.history().id());
    public final Name opener =
            new Name("cat", Role.OPENER.toString(), made.history().id());

    private final SigningKey cat = SigningKey.of(BootWorld.pair(Curve.P384));
    private final Authority owner = Authority.ofProject(
            made.history().id(),
            SubjectKey.of(made.owner().verificationKey()),
            made.owner()::sign,
            NOW,
            Duration.ofDays(300),
            RANDOM);
    private final byte[] cats = owner.certifyPerson(
            "cat", Set.of(Role.OPENER), SubjectKey.of(cat.verificationKey()), NOW, Duration.ofDays(31));

    Place place = new Place(BootWorld.OPENING, 0, VM, Nonce.random(RANDOM));
    Name certified = controller;
    SigningKey forKey;
    ProjectHistory brought = made.history();
    long serial = 7;
    SigningKey policySigner = made.owner();
    String policyProject = made.history().id();
    Instant policyFrom = NOW.minus(Duration.ofHours(1));
    long epoch = 7;
    boolean create;
    Optional<String> members = Optional.empty();
    Optional<String> settings = Optional.of("[[shape]]\nhosts = 4\ncpus = 16\nmemory-mib = 65536\n");

    public OpeningWorld() throws IOException, GeneralSecurityException {
        forKey = boot();
    }

    private SigningKey boot() throws IOException {
        return SigningKey.of(new KeyPair(keys.shown().signing().publicKey(), keys.signing()));
    }

    /** By whom VMs and the opener are believed: the owners of the project, who have revoked nobody. */
    public Beliefs beliefs() throws IOException {
        return beliefs(() -> NOW);
    }

    public Beliefs beliefs(InstantSource clock) throws IOException {
        Beliefs beliefs = new Beliefs(Anchors.none().withProject(made.history()), RevocationLists.none(), clock);
        beliefs.take(list());
        return beliefs;
    }

    /** Of revocations, the owner's: nobody. */
    public byte[] list() throws IOException {
        return owner.revoke(List.of(), BigInteger.ONE, NOW, Duration.ofDays(1));
    }

    /** With the documents that its host has: the last one is missing. */
    public Assignment assignment() throws IOException {
        List<byte[]> all = made.history().envelopes();
        return new Assignment(
                controller, Role.CONTROLLER, BootWorld.OPENING, 0, opener, ProjectHistory.of(all.subList(0, 2)));
    }

    public Unlocking.Self self() throws IOException {
        return new Unlocking.Self(assignment(), keys.shown().signing(), Signer.of(keys.signing()));
    }

    public Credential bootCredential() throws IOException {
        byte[] der = BootCertificate.make(
                controller, SubjectKey.of(keys.shown().signing()), Signer.of(keys.signing()), NOW, RANDOM);
        return Credential.of(keys.signing(), List.of(der));
    }

    /** The next of them: the opener, and with her whom she has certified. */
    public byte[] listOfOpener() throws IOException, GeneralSecurityException {
        X509Certificate certificate = (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(cats));
        return owner.revoke(
                List.of(new Authority.Revocation(certificate.getSerialNumber(), NOW)),
                BigInteger.TWO,
                NOW,
                Duration.ofDays(1));
    }

    /** Of the day, for somebody of cat's roles. */
    public Credential openers() throws IOException {
        KeyPair pair = BootWorld.pair(Curve.P384);
        byte[] leaf = Authority.load(cats, cat::sign, RANDOM)
                .issue(opener, SubjectKey.of(SigningKey.of(pair).verificationKey()), NOW, Duration.ofHours(12));
        return Credential.of(pair.getPrivate(), List.of(leaf, cats));
    }

    public Policy policy() {
        Shape limit = new Shape(16, 65_536, 1_048_576);
        return new Policy(
                policyProject,
                serial,
                policyFrom,
                policyFrom.plus(Duration.ofDays(90)),
                AssuranceLevel.HOST_WORD,
                List.of(new AcceptedHost("node17", host.verificationKey())),
                List.of(new AcceptedImage(IMAGE, Optional.empty())),
                limit,
                limit,
                Sharing.PROJECT,
                true,
                10,
                Set.of());
    }

    /** With the drive's key, if it is to be opened. */
    Unlock unlock(SecretMemory driveKey, Place at) throws IOException, GeneralSecurityException {
        byte[] spki = keys.shown().sealing().encoded();
        byte[] sealed = new Hpke(crypto)
                .seal(
                        SealingPublicKey.of(Arrays.copyOfRange(spki, SPKI_HEAD, spki.length)),
                        SealingContext.unlock(made.history().id(), at, epoch),
                        new byte[0],
                        driveKey);
        byte[] authority = Authority.load(cats, cat::sign, RANDOM)
                .certifyController(certified.id(), SubjectKey.of(forKey.verificationKey()), NOW, Duration.ofDays(7));
        byte[] address = {0x52, 0x54, 10, 64, 12, 1};
        return new Unlock(
                at,
                List.of(ByteString.copyFrom(authority), ByteString.copyFrom(cats)),
                brought.envelopes().stream().map(ByteString::copyFrom).toList(),
                ByteString.copyFrom(Envelope.sign(Policy.TYPE, policy().json(), policySigner)
                        .bytes()),
                List.of(site.verificationKey()),
                epoch,
                new SealedSecret(ByteString.copyFrom(sealed)),
                create,
                NOW,
                new Station(NETWORK, Address.parse("10.64.12.1"), 1450, new Mac(ByteString.copyFrom(address))),
                members.map(ByteString::copyFromUtf8),
                settings.map(ByteString::copyFromUtf8));
    }

    Unlocked decide() throws IOException, GeneralSecurityException {
        try (SecretMemory key = secrets.random(64)) {
            return Unlocking.decide(self(), place, unlock(key, place), RANDOM);
        }
    }

    /** What is decided when all is well. */
    public Unlocked unlocked() throws IOException, GeneralSecurityException {
        return decide();
    }
}

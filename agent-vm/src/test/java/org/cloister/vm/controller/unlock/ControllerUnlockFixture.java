package org.cloister.vm.controller.unlock;

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
import org.cloister.base.encoding.Digest;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ProjectUnlock;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.handover.VmMacAddress;
import org.cloister.protocol.handover.VmNetworkConfig;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.BootKeyPairs;

/** A project of which all is well, its opener cat, and a controlling VM that boots. What a test changes is a field. */
public final class ControllerUnlockFixture {
    public static final Instant NOW = BootFixture.NOW;
    public static final String VM = "tq4bcfcxfokh6sbolidgqd2f3i";
    public static final Digest IMAGE = Digest.sha384("image");
    public static final ProjectSubnet NETWORK = ProjectSubnet.parse("10.64.12.0/22");

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int SPKI_HEAD = 23;

    public final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
    public final LibCryptoCalls crypto = LibCryptoCalls.load(secrets);
    public final BootKeyPairs keys = BootKeyPairs.generate(secrets);
    public final BootFixture.Project made = BootFixture.project(3);
    /** Of the site, whose relays give nodes. */
    public final SigningKey site = SigningKey.of(BootFixture.pair(SignatureCurve.P256));

    public final SigningKey host = SigningKey.of(BootFixture.pair(SignatureCurve.P256));
    public final CertificateName controller =
            Opening.controller(BootFixture.DRIVE, made.history().id());
    public final CertificateName opener = new CertificateName(
            "cat", CertificateRole.OPENER.toString(), made.history().id());

    private final SigningKey cat = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
    private final CertificateAuthority owner = CertificateAuthority.ofProject(
            made.history().id(),
            SubjectPublicKey.of(made.owner().verificationKey()),
            made.owner()::sign,
            NOW,
            Duration.ofDays(300),
            RANDOM);
    private final byte[] cats = owner.certifyPerson(
            "cat",
            Set.of(CertificateRole.OPENER),
            SubjectPublicKey.of(cat.verificationKey()),
            NOW,
            Duration.ofDays(31));

    HandoverTarget place = new HandoverTarget(BootFixture.OPENING, 0, VM, Nonce.random(RANDOM));
    CertificateName certified = controller;
    SigningKey forKey;
    ProjectHistory files = made.history();
    long serial = 7;
    SigningKey policySigner = made.owner();
    String policyProject = made.history().id();
    Instant policyFrom = NOW.minus(Duration.ofHours(1));
    long epoch = 7;
    boolean create;
    Optional<String> members = Optional.empty();
    Optional<String> settings = Optional.of("[[shape]]\nhosts = 4\ncpus = 16\nmemory-mib = 65536\n");

    public ControllerUnlockFixture() throws IOException, GeneralSecurityException {
        forKey = boot();
    }

    private SigningKey boot() throws IOException {
        return SigningKey.of(new KeyPair(keys.publicKeys().signing().publicKey(), keys.signing()));
    }

    /** The trust anchors of VMs and the opener: the owners of the project, who have revoked nobody. */
    public TrustStore createTrustStore() throws IOException {
        return createTrustStore(() -> NOW);
    }

    public TrustStore createTrustStore(InstantSource clock) throws IOException {
        TrustStore trustStore =
                new TrustStore(TrustAnchors.none().withProject(made.history()), RevocationLists.none(), clock);
        trustStore.addRevocationList(list());
        return trustStore;
    }

    /** Of revocations, the owner's: nobody. */
    public byte[] list() throws IOException {
        return owner.revoke(List.of(), BigInteger.ONE, NOW, Duration.ofDays(1));
    }

    /** With the documents that its host has: the last one is missing. */
    public VmAssignment assignment() throws IOException {
        List<byte[]> all = made.history().envelopes();
        return new VmAssignment(
                controller,
                CertificateRole.CONTROLLER,
                BootFixture.OPENING,
                0,
                opener,
                ProjectHistory.of(all.subList(0, 2)));
    }

    public UnlockVerification.VmIdentity self() throws IOException {
        return new UnlockVerification.VmIdentity(
                assignment(), keys.publicKeys().signing(), CertificateSigner.of(keys.signing()));
    }

    public TlsCredential bootCredential() throws IOException {
        byte[] der = BootCertificate.make(
                controller,
                SubjectPublicKey.of(keys.publicKeys().signing()),
                CertificateSigner.of(keys.signing()),
                NOW,
                RANDOM);
        return TlsCredential.of(keys.signing(), List.of(der));
    }

    /** The next of them: the opener, and with her whom she has certified. */
    public byte[] listOfOpener() throws IOException, GeneralSecurityException {
        X509Certificate certificate = (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(cats));
        return owner.revoke(
                List.of(new CertificateAuthority.Revocation(certificate.getSerialNumber(), NOW)),
                BigInteger.TWO,
                NOW,
                Duration.ofDays(1));
    }

    /** Of the day, for somebody of cat's roles. */
    public TlsCredential openers() throws IOException {
        KeyPair pair = BootFixture.pair(SignatureCurve.P384);
        byte[] leaf = CertificateAuthority.load(cats, cat::sign, RANDOM)
                .issue(opener, SubjectPublicKey.of(SigningKey.of(pair).verificationKey()), NOW, Duration.ofHours(12));
        return TlsCredential.of(pair.getPrivate(), List.of(leaf, cats));
    }

    public ProjectPolicy policy() {
        VmShape limit = new VmShape(16, 65_536, 1_048_576);
        return new ProjectPolicy(
                policyProject,
                serial,
                policyFrom,
                policyFrom.plus(Duration.ofDays(90)),
                AssuranceLevel.HOST_WORD,
                List.of(new AcceptedHost("node17", host.verificationKey())),
                List.of(new AcceptedImage(IMAGE, Optional.empty())),
                limit,
                limit,
                HostSharing.PROJECT,
                true,
                10,
                Set.of());
    }

    /** With the drive's key, if it is to be opened. */
    ProjectUnlock unlock(SecretMemory driveKey, HandoverTarget at) throws IOException, GeneralSecurityException {
        byte[] spki = keys.publicKeys().sealing().encoded();
        byte[] sealed = new Hpke(crypto)
                .seal(
                        SealingPublicKey.of(Arrays.copyOfRange(spki, SPKI_HEAD, spki.length)),
                        SealingContext.unlock(made.history().id(), at, epoch),
                        new byte[0],
                        driveKey);
        byte[] authority = CertificateAuthority.load(cats, cat::sign, RANDOM)
                .certifyController(
                        certified.id(), SubjectPublicKey.of(forKey.verificationKey()), NOW, Duration.ofDays(7));
        byte[] address = {0x52, 0x54, 10, 64, 12, 1};
        return new ProjectUnlock(
                at,
                List.of(ByteString.copyFrom(authority), ByteString.copyFrom(cats)),
                files.envelopes().stream().map(ByteString::copyFrom).toList(),
                ByteString.copyFrom(DsseEnvelope.sign(ProjectPolicy.TYPE, policy().json(), policySigner)
                        .bytes()),
                List.of(site.verificationKey()),
                epoch,
                new SealedSecret(ByteString.copyFrom(sealed)),
                create,
                NOW,
                new VmNetworkConfig(
                        NETWORK,
                        ProjectAddress.parse("10.64.12.1"),
                        1450,
                        new VmMacAddress(ByteString.copyFrom(address))),
                members.map(ByteString::copyFromUtf8),
                settings.map(ByteString::copyFromUtf8));
    }

    VerifiedUnlock decide() throws IOException, GeneralSecurityException {
        try (SecretMemory key = secrets.random(64)) {
            return UnlockVerification.verify(self(), place, unlock(key, place), RANDOM);
        }
    }

    /** What is decided when all is well. */
    public VerifiedUnlock unlocked() throws IOException, GeneralSecurityException {
        return decide();
    }
}

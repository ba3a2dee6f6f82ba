package org.cloister.lab.conversation;

import java.io.IOException;
import java.math.BigInteger;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.authority.AuthorityLinkCredential;
import org.cloister.ctl.authority.CertificateRenewal;
import org.cloister.ctl.authority.EnrolmentFileStore;
import org.cloister.ctl.authority.EnrolmentState;
import org.cloister.ctl.authority.RegistrationAuthority;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestAgent;
import org.cloister.transport.link.AgentLink;

/** The desk of the cast's site, on one relay; its enrolments are files, as on the CA's machine. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class TestRegistrationAuthority implements CertificateRenewal.Signer, AutoCloseable {
    final BlockingQueue<String> journal = new LinkedBlockingQueue<>();
    final AtomicInteger certified = new AtomicInteger();
    private final CertificateAuthority site;
    private final EnrolmentFileStore files;
    private final RegistrationAuthority enrolments;
    private final CertificateRenewal renewal;
    private final AgentLink link;
    private volatile Optional<RevocationList> newest = Optional.empty();

    TestRegistrationAuthority(RelayFixture relays, Path folder) throws IOException {
        this(relays, folder, relays.relay.address());
    }

    TestRegistrationAuthority(RelayFixture relays, Path folder, InetSocketAddress relay) throws IOException {
        this.site = TestAgent.require(relays.site.authority, "no site");
        this.files = new EnrolmentFileStore(folder);
        this.enrolments = new RegistrationAuthority(site, files);
        this.renewal = new CertificateRenewal(this, InstantSource.system(), journal::add);
        this.link = new AgentLink(
                relays.loops,
                new AgentLink.Settings(
                        List.of(relay),
                        new AuthorityLinkCredential(site, InstantSource.system()),
                        trust -> trust.only(RelayFixture.RELAY),
                        relays.trustStore(),
                        "a test's desk"),
                renewal.forRelay("r1"),
                new Random(2));
    }

    /** As after a first enrolment whose certificate was never kept. */
    static void enrol(Path folder, CertificateName name, KeyPair key) throws IOException {
        VerificationKey half = VerificationKey.of(key.getPublic());
        new EnrolmentFileStore(folder)
                .store(new EnrolmentState.Used(name, half, half, Optional.empty(), List.of(), List.of()));
    }

    void revoke(CertificateName name) throws IOException {
        enrolments.revoke(name, "a test", Instant.now());
        signList(Instant.now());
    }

    @Override
    public byte[] certify(EnrolmentRequest request, Instant now) throws IOException {
        certified.incrementAndGet();
        return enrolments.renew(request, now);
    }

    @Override
    public Optional<RevocationList> newestList() {
        return newest;
    }

    @Override
    public boolean hasUnlistedRevocations(Instant now) throws IOException {
        Set<BigInteger> listed = newest.map(RevocationList::serials).orElse(Set.of());
        return !listed.containsAll(enrolments.withdrawn(now));
    }

    @Override
    public RevocationList signList(Instant now) throws IOException {
        BigInteger next = newest.map(list -> list.number().add(BigInteger.ONE)).orElse(BigInteger.TWO);
        RevocationList list =
                RevocationList.read(enrolments.list(next, now, Duration.ofHours(24)), List.of(site.key()));
        newest = Optional.of(list);
        return list;
    }

    @Override
    public Optional<RevocationList> readList(byte[] signed) {
        try {
            return Optional.of(RevocationList.read(signed, List.of(site.key())));
        } catch (MalformedException | IdentityRefusedException e) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        link.close();
        renewal.close();
    }
}

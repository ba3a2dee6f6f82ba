package org.cloister.relay;

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
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Enrolment;
import org.cloister.protocol.identity.EnrolmentDesk;
import org.cloister.protocol.identity.EnrolmentFiles;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.DeskCredential;
import org.cloister.protocol.link.RenewalDesk;

/** The desk of the cast's site, on one relay; its enrolments are files, as on the CA's machine. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class Desk implements RenewalDesk.Office, AutoCloseable {
    final BlockingQueue<String> journal = new LinkedBlockingQueue<>();
    final AtomicInteger certified = new AtomicInteger();
    private final Authority site;
    private final EnrolmentFiles files;
    private final EnrolmentDesk enrolments;
    private final RenewalDesk desk;
    private final AgentLink link;
    private volatile Optional<RevocationList> newest = Optional.empty();

    Desk(Cast cast, Path folder) throws IOException {
        this(cast, folder, cast.relay.address());
    }

    Desk(Cast cast, Path folder, InetSocketAddress relay) throws IOException {
        this.site = Agent.require(cast.site.authority, "no site");
        this.files = new EnrolmentFiles(folder);
        this.enrolments = new EnrolmentDesk(site, files);
        this.desk = new RenewalDesk(this, InstantSource.system(), journal::add);
        this.link = new AgentLink(
                cast.loops,
                new AgentLink.Terms(
                        List.of(relay),
                        new DeskCredential(site, InstantSource.system()),
                        trust -> trust.only(Cast.RELAY),
                        cast.beliefs(),
                        "a test's desk"),
                desk.at("r1"),
                new Random(2));
    }

    /** As after a first enrolment whose certificate was never kept. */
    static void enrol(Path folder, Name name, KeyPair key) throws IOException {
        VerificationKey half = VerificationKey.of(key.getPublic());
        new EnrolmentFiles(folder).put(new Enrolment.Used(name, half, half, List.of(), List.of()));
    }

    void revoke(Name name) throws IOException {
        enrolments.revoke(name, "a test", Instant.now());
        sign(Instant.now());
    }

    @Override
    public byte[] certify(EnrolmentRequest request, Instant now) throws IOException {
        certified.incrementAndGet();
        return enrolments.answer(request, now);
    }

    @Override
    public Optional<RevocationList> newest() {
        return newest;
    }

    @Override
    public boolean hasUnlisted(Instant now) throws IOException {
        Set<BigInteger> listed = newest.map(RevocationList::serials).orElse(Set.of());
        return !listed.containsAll(enrolments.withdrawn(now));
    }

    @Override
    public RevocationList sign(Instant now) throws IOException {
        BigInteger next = newest.map(list -> list.number().add(BigInteger.ONE)).orElse(BigInteger.TWO);
        RevocationList list =
                RevocationList.read(enrolments.list(next, now, Duration.ofHours(24)), List.of(site.key()));
        newest = Optional.of(list);
        return list;
    }

    @Override
    public Optional<RevocationList> read(byte[] signed) {
        try {
            return Optional.of(RevocationList.read(signed, List.of(site.key())));
        } catch (MalformedException | IdentityRefused e) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        link.close();
        desk.close();
    }
}

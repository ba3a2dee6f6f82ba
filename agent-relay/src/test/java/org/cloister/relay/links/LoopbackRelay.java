package org.cloister.relay.links;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.cloister.protocol.audit.AuditLine;
import org.cloister.protocol.audit.AuditRecord;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.slurm.FakeGlobalSlurm;
import org.cloister.relay.slurm.GlobalJob;
import org.cloister.relay.tickets.TicketTimeouts;
import org.cloister.transport.tls.TlsCredential;

/** A relay on loopback with a Slurm in memory, a site and a project: for tests that have the other ends of its conversations. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
public final class LoopbackRelay implements AutoCloseable {
    private static final TicketTimeouts FAST = new TicketTimeouts(
            Duration.ofMinutes(10),
            Duration.ofMinutes(5),
            Duration.ofMillis(100),
            Duration.ofMillis(400),
            Duration.ofMinutes(1),
            Duration.ofHours(8));

    private final FakeGlobalSlurm slurm = new FakeGlobalSlurm(List.of("n1", "n2"), Set.of(), true);
    private final Path state;
    private final RelayFixture fixture;

    /** @param state a folder of its own */
    public LoopbackRelay(Path state) throws Exception {
        this.state = state;
        fixture = new RelayFixture(state);
        fixture.kill();
        fixture.slurm = Optional.of(slurm);
        fixture.times = FAST;
        fixture.relay = fixture.serve(0, RelayLimits.DEFAULT);
    }

    public InetSocketAddress address() {
        return fixture.relay.address();
    }

    public CertificateName name() {
        return RelayFixture.RELAY;
    }

    /** Of the node {@code n1}. */
    public CertificateName host() {
        return RelayFixture.HOST;
    }

    public CertificateName controller() {
        return fixture.controller;
    }

    public CertificateName device() {
        return fixture.device;
    }

    /** The device's person. */
    public CertificateName opener() {
        return fixture.site.a.name(fixture.device.id(), CertificateRole.OPENER);
    }

    /** Of the site's authority, in DER. */
    public byte[] siteCertificate() {
        return fixture.site.authority.certificate();
    }

    public ProjectHistory project() {
        return fixture.site.a.history;
    }

    public Collection<VerificationKey> siteKeys() {
        return List.of(fixture.site.key.verificationKey());
    }

    /** Of the day. */
    public TlsCredential credential(CertificateName of) throws GeneralSecurityException, IOException {
        return fixture.credential(of);
    }

    /** Serves another project of the site from now on. */
    public void serve(ProjectHistory project, byte[] revocations) throws IOException, GeneralSecurityException {
        for (byte[] document : project.envelopes()) {
            deliver(document);
        }
        deliver(fixture.site.approval(project.id(), 1, TestSite.QUOTA));
        deliver(revocations);
    }

    /** Takes a document, an approval, or a list of revocations, which all who are attached hear then. */
    public void deliver(byte[] signed) throws IOException {
        fixture.deliver(signed);
    }

    /** The second of {@link #project}, which revokes nobody either. */
    public byte[] laterRevocations() throws IOException {
        return TestSite.list(fixture.site.a.authority, 2);
    }

    /** As of who has heard no list yet. */
    public TrustStore trustStore() {
        return fixture.emptyTrustStore();
    }

    public FakeGlobalSlurm slurm() {
        return slurm;
    }

    /** Jobs that Slurm was ever given for a ticket. */
    public List<GlobalJob> jobs(String ticket) throws IOException {
        return slurm.jobs().stream().filter(job -> job.ticket().equals(ticket)).toList();
    }

    /** Kinds of the audit log's records about a ticket, in their order. */
    public List<String> audited(String ticket) throws IOException {
        return records().stream()
                .filter(record -> ticket.equals(record.facts().get("ticket")))
                .map(AuditRecord::kind)
                .toList();
    }

    /** How many records of a kind the audit log has. */
    public long count(String kind) throws IOException {
        return records().stream().filter(record -> record.kind().equals(kind)).count();
    }

    private List<AuditRecord> records() throws IOException {
        List<AuditRecord> records = new ArrayList<>();
        try (Stream<Path> files = Files.walk(state)) {
            for (Path file : files.filter(each -> each.getParent().endsWith("audit"))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList()) {
                for (String line : Files.readAllLines(file)) {
                    if (AuditLine.parse(line.getBytes(StandardCharsets.UTF_8)) instanceof AuditRecord record) {
                        records.add(record);
                    }
                }
            }
        }
        return records;
    }

    @Override
    public void close() {
        fixture.close();
    }
}

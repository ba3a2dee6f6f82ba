package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.cloister.audit.AuditWitness;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.audit.AuditHashChain;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.audit.AuditRecord;
import org.cloister.protocol.audit.AuditSegmentHeader;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log of two groups, as a relay writes it. */
class AuditCommandsTest {
    private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
    private static final String RELAY = "r1.relay.site.cloister.internal";
    private static final String LOG = "a".repeat(26);
    private static final String TICKET = "t".repeat(26);
    private static final AuditEvent ACCEPTED = AuditEvent.of(NOON, "ticket.accepted")
            .by("k".repeat(52))
            .with(AuditField.TICKET, TICKET)
            .with(AuditField.PROJECT, "p".repeat(52));

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private final SigningKey relay;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final AuditHashChain chain = new AuditHashChain(AuditHashChain.EMPTY);
    private long count;

    @SuppressWarnings("NullAway.Init")
    private Cli cli;

    @SuppressWarnings("NullAway.Init")
    private byte[] first;

    AuditCommandsTest() throws GeneralSecurityException, IOException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        relay = SigningKey.of(generator.generateKeyPair());
    }

    @BeforeEach
    void write() throws Exception {
        cli = new Cli(folder, "not needed");
        Files.write(
                folder.resolve("relay.pem"),
                Pem.write(Pem.PUBLIC_KEY, relay.verificationKey().encoded()));
        add(new AuditSegmentHeader(RELAY, LOG, 1, AuditHashChain.EMPTY, 0, relay.verificationKey()).line());
        group(AuditEvent.of(NOON, "log.begun"), ACCEPTED.numbered(1));
        first = bytes.toByteArray();
        SignedAuditHead head = group(
                ACCEPTED.numbered(2).with(AuditField.TICKET, "u".repeat(26)).with(AuditField.NODES, 3));
        AuditWitness.open(folder.resolve("heads"), relay)
                .offer(head.envelope().bytes(), List.of(relay.verificationKey()));
        Files.createDirectory(folder.resolve("audit"));
        Files.write(segment(), bytes.toByteArray());
    }

    @AfterEach
    void close() throws IOException {
        cli.close();
    }

    private SignedAuditHead group(AuditEvent... events) throws GeneralSecurityException {
        for (AuditEvent event : events) {
            add(AuditRecord.of(++count, event).line());
        }
        SignedAuditHead head = new AuditHead(RELAY, LOG, count, chain.value(), NOON).sign(relay);
        add(head.envelope().bytes());
        return head;
    }

    private void add(byte[] line) {
        chain.add(line);
        bytes.writeBytes(line);
        bytes.write('\n');
    }

    private Path segment() {
        return folder.resolve("audit").resolve(AuditSegmentHeader.fileName(1));
    }

    private Cli.Result verify(String... more) throws IOException {
        String[] arguments = Arrays.copyOf(
                new String[] {"audit", "verify", folder.resolve("audit").toString()}, 3 + more.length);
        System.arraycopy(more, 0, arguments, 3, more.length);
        return cli.run(arguments);
    }

    private String at(String name) {
        return folder.resolve(name).toString();
    }

    @Test
    void a_log_holds_and_what_could_not_be_found_is_said() throws Exception {
        Cli.Result alone = verify();
        assertThat(alone.status()).isZero();
        assertThat(alone.out())
                .startsWith("holds        yes\nrecords      3\nlog          " + LOG + " of " + RELAY + "\n")
                .contains("newest head  record 3 at 2026-11-22T12:00:00Z, hash ")
                .contains("unseen       the relay's certificate or key was not given")
                .contains("unseen       no witness's head was given");
        Cli.Result witnessed = verify("--relay", at("relay.pem"), "--head", at("heads"));
        assertThat(witnessed.status()).isZero();
        assertThat(witnessed.out()).contains("is that of record 3: what came later");
    }

    @Test
    void a_changed_record_and_one_that_was_cut_off_are_failures() throws Exception {
        String whole = Files.readString(segment());
        Files.writeString(segment(), whole.replace("\"nodes\":3", "\"nodes\":4"));
        Cli.Result changed = verify("--relay", at("relay.pem"));
        assertThat(changed.status()).isEqualTo(2);
        assertThat(changed.out())
                .startsWith("holds        no\n")
                .contains("finding      changed  " + segment() + ": record 4: records 3 to 3, or a line among them");
        Files.write(segment(), first);
        assertThat(verify("--relay", at("relay.pem")).status()).isZero();
        Cli.Result cut = verify("--relay", at("relay.pem"), "--head", at("heads"), "--output", "json");
        assertThat(cut.status()).isEqualTo(2);
        assertThat(cut.out()).contains("\"kind\" : \"rolled-back\"").contains("\"holds\" : false");
    }

    @Test
    void files_that_are_none_are_said_by_name() throws Exception {
        assertThat(verify("--head", at("nowhere")).err()).contains("nowhere: no heads of a witness");
        Files.writeString(folder.resolve("other.pem"), "nothing");
        Cli.Result other = verify("--relay", at("other.pem"));
        assertThat(other.status()).isEqualTo(2);
        assertThat(other.err()).contains("other.pem: want one block PUBLIC KEY of PEM");
        Files.writeString(segment(), new String(first, StandardCharsets.UTF_8) + "nonsense\n");
        assertThat(cli.run("audit", "show", at("audit")).err())
                .contains(AuditSegmentHeader.fileName(1) + ":5: line: want a record");
    }

    @Test
    void records_are_shown_by_ticket_project_and_kind() throws Exception {
        assertThat(cli.run("audit", "show", at("audit"), "--ticket", TICKET).out())
                .isEqualTo("2  2026-11-22T12:00:00Z  ticket.accepted  project=" + "p".repeat(52) + " ticket=" + TICKET
                        + " key=" + "k".repeat(52) + "\n");
        assertThat(cli.run("audit", "show", at("audit"), "--kind", "log").out())
                .isEqualTo("1  2026-11-22T12:00:00Z  log.begun\n");
        assertThat(cli.run("audit", "show", at("audit"), "--project", "p".repeat(52), "--last", "1", "-o", "json")
                        .out())
                .contains("\"nodes\" : 3")
                .contains("\"event\" : 2")
                .doesNotContain(TICKET);
        assertThat(cli.run("audit", "show", at("audit"), "--project", "q".repeat(52))
                        .out())
                .isEmpty();
    }
}

package org.cloister.host.ticket;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With the objects of docs/protocol.md, sections 13 and 15. */
class ClaimReaderTest {
    private static final Path PAGE =
            Path.of(System.getProperty("cloister.root")).resolve("docs/protocol.md");
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final long JOB = 4711;

    @TempDir
    private Path folder;

    private String page;
    private Anchors anchors;
    private Identity relay;
    private VerificationKey host;
    private EpochBook epochs;
    private Instant now;

    @BeforeEach
    void read() throws IOException {
        page = Files.readString(PAGE);
        now = Instant.parse(text("ticket-at")).plusSeconds(40);
        anchors = Anchors.none()
                .withSite(List.of(VerificationKey.parse(BinaryText.fromBase64(text("receipt-site-key"), 128))))
                .withProject(ProjectHistory.begin(bytes("receipt-genesis")));
        relay = Chain.parse(List.of(certificate("ticket-relay"))).verifyUnlisted(Set.of(Role.RELAY), anchors, now);
        host = ClaimCheck.read(bytes("ticket-allocation"), relay).slots().get(0).key();
        epochs = EpochBook.open(folder.resolve("epochs"));
    }

    private String text(String name) {
        Matcher line =
                Pattern.compile("^" + name + ": (.+)$", Pattern.MULTILINE).matcher(page);
        assertThat(line.find()).as(name).isTrue();
        return line.group(1);
    }

    private byte[] bytes(String name) {
        return text(name).getBytes(UTF_8);
    }

    private byte[] certificate(String name) {
        return BinaryText.fromBase64(text(name), Chain.MAX_CERTIFICATE);
    }

    private OfficeMessage.Claimed claimed() {
        return claimed("ticket-controller");
    }

    private OfficeMessage.Claimed claimed(String signer) {
        return new OfficeMessage.Claimed(
                ByteString.copyFrom(bytes("ticket-envelope")),
                List.of(ByteString.copyFrom(certificate(signer))),
                ByteString.copyFrom(bytes("ticket-allocation")),
                ByteString.EMPTY);
    }

    private ClaimReader reader(Anchors of, VerificationKey key, boolean used) {
        return new ClaimReader(key, new Beliefs(of, RevocationLists.none(), () -> now), epochs, ticket -> used);
    }

    private void refused(
            TicketClause clause, ClaimReader reader, OfficeMessage.Claimed claimed, String ticket, long job)
            throws IOException {
        TicketRefused refused =
                catchThrowableOfType(TicketRefused.class, () -> reader.read(claimed, relay, ticket, job));
        assertThat(refused).isNotNull();
        assertThat(refused.clause()).isEqualTo(clause);
        assertThat(folder.resolve("epochs")).doesNotExist();
    }

    @Test
    void a_claim_that_holds_says_what_is_to_run_and_its_epoch_is_on_disk() throws IOException {
        Assigned assigned = reader(anchors, host, false).read(claimed(), relay, TICKET, JOB);
        assertThat(assigned.slot().slot()).isZero();
        assertThat(assigned.slot().address()).hasToString("10.64.12.2");
        assertThat(assigned.allocation().vlan()).isEqualTo(103);
        assertThat(assigned.request().cpusPerTask()).isEqualTo(12);
        assertThat(assigned.ticket().signer().role()).isEqualTo(Role.CONTROLLER);
        assertThat(assigned.relay()).isEqualTo(relay);
        String project = assigned.ticket().ticket().project();
        assertThat(EpochBook.open(folder.resolve("epochs")).of(project)).isEqualTo(3);
    }

    @Test
    void each_refusal_has_its_clause_and_leaves_nothing_on_disk() throws IOException {
        ClaimReader reader = reader(anchors, host, false);
        refused(TicketClause.PROJECT, reader, claimed(), TICKET, JOB + 1);
        refused(TicketClause.PROJECT, reader, claimed(), "d" + TICKET.substring(1), JOB);
        refused(TicketClause.PROJECT, reader(anchors, relay.key(), false), claimed(), TICKET, JOB);
        refused(TicketClause.USED, reader(anchors, host, true), claimed(), TICKET, JOB);
        refused(TicketClause.SIGNATURE, reader, claimed("ticket-relay"), TICKET, JOB);
        refused(TicketClause.SIGNATURE, reader(Anchors.none(), host, false), claimed(), TICKET, JOB);
        now = now.plus(ClaimCheck.LONGEST).plusSeconds(120);
        refused(TicketClause.EXPIRED, reader, claimed(), TICKET, JOB);
    }

    @Test
    void a_ticket_of_an_epoch_that_was_left_behind_starts_nothing() throws IOException {
        Assigned assigned = reader(anchors, host, false).read(claimed(), relay, TICKET, JOB);
        Files.writeString(folder.resolve("epochs"), assigned.ticket().ticket().project() + " 4\n");
        epochs = EpochBook.open(folder.resolve("epochs"));
        TicketRefused refused = catchThrowableOfType(
                TicketRefused.class, () -> reader(anchors, host, false).read(claimed(), relay, TICKET, JOB));
        assertThat(refused.clause()).isEqualTo(TicketClause.SEQUENCE);
    }

    @Test
    void whose_claim_an_answer_says_to_be_for_is_read_from_its_envelope() {
        assertThat(TicketIds.of(bytes("ticket-envelope"))).contains(TICKET);
        assertThat(TicketIds.of(bytes("ticket-payload"))).isEmpty();
        assertThat(TicketIds.of(new byte[0])).isEmpty();
        assertThat(TicketIds.of("{\"payload\":\"e30=\"}".getBytes(UTF_8))).isEmpty();
    }
}

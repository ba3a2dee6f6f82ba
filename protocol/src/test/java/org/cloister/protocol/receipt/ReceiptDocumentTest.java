package org.cloister.protocol.receipt;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketVerifier;
import org.cloister.protocol.ticket.Withdrawal;
import org.junit.jupiter.api.Test;

/** Holds sections 13 and 15 of docs/protocol.md, their vectors, tables and limits, against the code. */
class ReceiptDocumentTest {
    private final String page =
            Files.readString(Path.of(System.getProperty("cloister.root", "..")).resolve("docs/protocol.md"));
    private final Map<String, String> vectors = new HashMap<>();

    ReceiptDocumentTest() throws IOException {
        Matcher line = Pattern.compile("^((?:ticket|receipt)-[a-z-]+): (.+)$", Pattern.MULTILINE)
                .matcher(page);
        while (line.find()) {
            vectors.put(line.group(1), line.group(2));
        }
    }

    private String section(int number) {
        int from = page.indexOf("\n## " + number + ". ");
        return page.substring(from, page.indexOf("\n## ", from + 1));
    }

    private String text(String name) {
        return Objects.requireNonNull(vectors.get(name), name);
    }

    private byte[] bytes(String name) {
        return text(name).getBytes(UTF_8);
    }

    private VerificationKey site() throws IOException {
        return VerificationKey.parse(BinaryText.fromBase64(text("receipt-site-key"), 128));
    }

    private CertifiedIdentity identity(String name) throws IOException {
        TrustAnchors anchors = TrustAnchors.none()
                .withSite(List.of(site()))
                .withProject(ProjectHistory.fromGenesis(bytes("receipt-genesis")));
        return CertificateChain.parse(List.of(BinaryText.fromBase64(text(name), CertificateChain.MAX_CERTIFICATE)))
                .verifyUnlisted(List.of(CertificateRole.values()), anchors, Instant.parse(text("ticket-at")));
    }

    @Test
    void the_ticket_and_its_withdrawal_are_its_controlling_VM_s() throws Exception {
        SignedTicket signed = SignedTicket.read(bytes("ticket-envelope"), identity("ticket-controller"));
        assertThat(new String(signed.ticket().payload(), UTF_8)).isEqualTo(text("ticket-payload"));
        Withdrawal withdrawal = SignedTicket.readWithdrawal(bytes("ticket-withdrawal"), identity("ticket-controller"));
        assertThat(withdrawal.ticket()).isEqualTo(signed.ticket().id());
    }

    @Test
    void the_opening_is_its_opener_s() throws Exception {
        TrustAnchors anchors =
                TrustAnchors.none().withProject(ProjectHistory.fromGenesis(bytes("ticket-opening-genesis")));
        CertifiedIdentity opener = CertificateChain.parse(
                        List.of(BinaryText.fromBase64(text("ticket-opener"), CertificateChain.MAX_CERTIFICATE)))
                .verifyUnlisted(List.of(CertificateRole.OPENER), anchors, Instant.parse(text("ticket-at")));
        SignedOpening signed = SignedOpening.read(bytes("ticket-opening"), opener);
        assertThat(new String(signed.opening().payload(), UTF_8)).isEqualTo(text("ticket-opening-payload"));
        assertThat(SignedRequest.read(bytes("ticket-opening"), opener)).isEqualTo(signed);
    }

    @Test
    void the_allocation_is_its_relay_s_and_its_host_may_start() throws Exception {
        SignedTicket signed = SignedTicket.read(bytes("ticket-envelope"), identity("ticket-controller"));
        CertifiedIdentity relay = identity("ticket-relay");
        Allocation allocation = AllocationVerifier.read(bytes("ticket-allocation"), relay);
        assertThat(new String(allocation.payload(), UTF_8)).isEqualTo(text("ticket-allocation-payload"));
        AllocationVerifier.Claimant host =
                new AllocationVerifier.Claimant(allocation.slots().get(0).key(), allocation.globalJob(), 0, false);
        assertThat(AllocationVerifier.require(signed, bytes("ticket-allocation"), relay, host, allocation.issued())
                        .slot())
                .isZero();
    }

    @Test
    void the_receipt_holds_and_has_the_parts_that_stand_beside_it() throws Exception {
        byte[] envelope = bytes("receipt-envelope");
        ReceiptVerification found = ReceiptVerifier.verify(
                envelope, Optional.of(ProjectHistory.fromGenesis(bytes("receipt-genesis"))), List.of(site()));
        assertThat(found.isVerified()).as("%s", found.findings()).isTrue();
        ReceiptSlot slot = found.receipt().slots().get(0);
        byte[] host = DsseEnvelope.parse(slot.hostStatement().orElseThrow().bytes(), HostStatement.MAX_BYTES)
                .unverifiedPayload();
        byte[] worker = DsseEnvelope.parse(slot.workerStatement().orElseThrow().bytes(), WorkerStatement.MAX_BYTES)
                .unverifiedPayload();
        assertThat(new String(HostStatement.parse(host).payload(), UTF_8)).isEqualTo(text("receipt-host-part"));
        assertThat(new String(WorkerStatement.parse(worker).payload(), UTF_8)).isEqualTo(text("receipt-worker-part"));
    }

    @Test
    void the_tables_have_every_clause_state_and_end() {
        List<String> rows = new ArrayList<>();
        Matcher row = Pattern.compile("^\\| `([a-z-]+)` \\| ([^|]+) \\| (?:relay|relay, host) \\|$", Pattern.MULTILINE)
                .matcher(section(13));
        while (row.find()) {
            rows.add(row.group(1) + ": " + row.group(2));
        }
        assertThat(rows)
                .isEqualTo(Arrays.stream(TicketClause.values())
                        .map(clause -> clause + ": " + clause.denies())
                        .toList());
        for (TicketState state : TicketState.values()) {
            assertThat(section(13)).contains("| `" + state + "` | ");
        }
        for (TicketEnd end : TicketEnd.values()) {
            assertThat(section(13)).contains("| `" + end + "` | ");
            assertThat(section(15)).contains("`" + end + "`");
        }
        for (VmEndReason end : VmEndReason.values()) {
            assertThat(section(15)).contains("`" + end + "`");
        }
    }

    @Test
    void types_and_limits() {
        assertThat(section(13))
                .contains(Ticket.TYPE, Opening.TYPE, Withdrawal.TYPE, Allocation.TYPE)
                .contains("at most " + Ticket.LONGEST.toSeconds() + " s apart")
                .contains("at most " + Ticket.MAX_BYTES + " bytes")
                .contains("at most " + Withdrawal.MAX_BYTES + " bytes")
                .contains("by more than " + TicketVerifier.TOLERANCE.toSeconds() + " s")
                .contains("at most " + AllocationVerifier.LONGEST.toSeconds() + " s ago")
                .contains("A payload has at most " + (Allocation.MAX_BYTES >> 20) + " MiB, an envelope "
                        + (Allocation.MAX_ENVELOPE >> 20) + " MiB");
        assertThat(section(15))
                .contains(Receipt.TYPE, InTotoStatement.STATEMENT, Receipt.AUDIT_HEAD)
                .contains(
                        "`" + Receipt.PREDICATE + "`",
                        "`" + HostStatement.PREDICATE + "`",
                        "`" + WorkerStatement.PREDICATE + "`")
                .contains("up to " + Receipt.MAX_DOCUMENTS + " of the project's documents")
                .contains("A payload has at most " + (Receipt.MAX_BYTES >> 20) + " MiB, an envelope "
                        + (Receipt.MAX_ENVELOPE >> 20) + " MiB");
        assertThat(section(16))
                .contains("| ticket | " + Ticket.MAX_BYTES + " |")
                .contains("| opening | " + Opening.MAX_BYTES + " |")
                .contains("| withdrawal | " + Withdrawal.MAX_BYTES + " |")
                .contains("| allocation | " + Allocation.MAX_ENVELOPE + " |")
                .contains("part | " + HostStatement.MAX_BYTES + " |")
                .contains("| receipt | " + Receipt.MAX_ENVELOPE + " |");
        assertThat(HostStatement.MAX_BYTES).isEqualTo(WorkerStatement.MAX_BYTES);
    }
}

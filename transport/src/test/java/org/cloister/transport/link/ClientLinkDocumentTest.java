package org.cloister.transport.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.protocol.link.wire.FromAgent;
import org.cloister.transport.channel.SessionMark;
import org.cloister.transport.circuit.CircuitVectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Holds docs/protocol.md, sections 7 to 10 and 13, against the code. */
class ClientLinkDocumentTest {
    private static String document = "";

    @BeforeAll
    static void read() throws IOException {
        document = Files.readString(Path.of(System.getProperty("cloister.root"), "docs/protocol.md"));
    }

    private static byte[] vector(String name) {
        Matcher matcher =
                Pattern.compile("```vector " + name + "\n([0-9a-f\n]+)```").matcher(document);
        assertThat(matcher.find()).as("vector " + name).isTrue();
        return HexFormat.of().parseHex(matcher.group(1).replace("\n", ""));
    }

    private static byte[] message(byte[] framed) {
        assertThat(HexFormat.of().formatHex(framed, 0, 4)).isEqualTo("%08x".formatted(framed.length - 4));
        return Arrays.copyOfRange(framed, 4, framed.length);
    }

    private static Map<String, String> rows(String section, int columns) {
        Map<String, String> rows = new LinkedHashMap<>();
        int from = document.indexOf(section);
        String[] lines =
                document.substring(from, document.indexOf("\n## ", from + 1)).split("\n", -1);
        for (String line : lines) {
            String[] cells = line.split("\\|", -1);
            if (cells.length == columns + 2 && cells[1].contains("`")) {
                String first = cells[1].strip();
                rows.put(first.substring(1, first.indexOf('`', 1)), cells[2].strip());
            }
        }
        return rows;
    }

    @Test
    void messages_travel_as_the_examples_show() throws MalformedException {
        AgentMessage serve = new AgentMessage.Serve(new CertificateName("w1", "worker", "p"));
        assertThat(AgentMessage.read(message(vector("from-agent-serve")))).isEqualTo(serve);
        assertThat(ByteBufUtil.getBytes(MessageFraming.frame(serve.wire()))).isEqualTo(vector("from-agent-serve"));
        RelayMessage attached =
                new RelayMessage.Attached("r1", new ReconnectDelay(Duration.ofSeconds(2), Duration.ofSeconds(8)), 3);
        assertThat(RelayMessage.read(message(vector("from-relay-attached")))).isEqualTo(attached);
        assertThat(ByteBufUtil.getBytes(MessageFraming.frame(attached.wire())))
                .isEqualTo(vector("from-relay-attached"));
        for (Map.Entry<String, RelayMessage> each : Map.<String, RelayMessage>of(
                        "from-relay-renewed",
                        new RelayMessage.Renewed(RenewalResult.refused(IdentityClause.REVOKED)),
                        "from-relay-renewal-asked",
                        new RelayMessage.RenewalRequested(
                                7, new CertificateName("h1", "host", "site"), ByteString.copyFromUtf8("x")),
                        "from-relay-leave",
                        new RelayMessage.ShutdownRequest(Duration.ofSeconds(20)))
                .entrySet()) {
            assertThat(RelayMessage.read(message(vector(each.getKey())))).isEqualTo(each.getValue());
            assertThat(ByteBufUtil.getBytes(MessageFraming.frame(each.getValue().wire())))
                    .isEqualTo(vector(each.getKey()));
        }
    }

    @Test
    void an_unknown_critical_field_ends_the_stream_and_an_unknown_other_one_does_not() throws Exception {
        assertThatThrownBy(() -> AgentMessage.read(message(vector("from-agent-critical"))))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("field 99 is critical");
        byte[] unknown = {(byte) 0x9a, 6, 1, 1};
        assertThat(AgentMessage.read(unknown)).isEqualTo(new AgentMessage.UnknownMessage());
        assertThat(FromAgent.parseFrom(unknown).getCriticalList()).isEmpty();
    }

    @Test
    void the_hello_inside_is_the_examples() throws Exception {
        CircuitVectors.requireHello(
                message(vector("circuit-hello")), new Digest(Digest.Algorithm.SHA384, "11".repeat(48)));
    }

    @Test
    void a_refusal_of_evidence_is_the_examples() throws MalformedException {
        EvidenceMessage.Response busy = new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.BUSY);
        assertThat(EvidenceMessage.readResponse(message(vector("from-host-refused"))))
                .isEqualTo(busy);
        assertThat(ByteBufUtil.getBytes(MessageFraming.frame(busy.wire()))).isEqualTo(vector("from-host-refused"));
        for (EvidenceMessage.RefusalReason why : EvidenceMessage.RefusalReason.values()) {
            assertThat(document).contains("`" + why + "` (");
        }
    }

    @Test
    void a_refusal_of_an_assignment_is_the_examples() throws MalformedException {
        AssignmentMessage.Response unknown = new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.UNKNOWN);
        assertThat(AssignmentMessage.readResponse(message(vector("assignment-refused"))))
                .isEqualTo(unknown);
        assertThat(ByteBufUtil.getBytes(MessageFraming.frame(unknown.wire()))).isEqualTo(vector("assignment-refused"));
        for (AssignmentMessage.RefusalReason why : AssignmentMessage.RefusalReason.values()) {
            assertThat(document).contains("`" + why + "` (");
        }
    }

    @Test
    void the_mark_record_is_the_examples() {
        byte[] mine = HexFormat.of().parseHex("aa".repeat(16));
        byte[] yours = HexFormat.of().parseHex("bb".repeat(16));
        assertThat(SessionMark.bytes(mine, yours)).isEqualTo(vector("mark-record"));
    }

    @Test
    void the_limits_are_the_codes() {
        Map<String, Long> rows = new HashMap<>();
        rows("## 16. Limits", 4).forEach((name, value) -> rows.put(name, Long.parseLong(value)));
        rows.keySet().removeIf(name -> document.contains("| `" + name + "`*"));
        assertThat(rows).isEqualTo(ProtocolLimits.table());
    }

    @Test
    void the_close_reasons_and_their_statuses_are_the_codes() {
        Map<String, String> code = new LinkedHashMap<>();
        for (CloseReason reason : CloseReason.values()) {
            code.put(reason.toString(), reason.status() == 0 ? "" : String.valueOf(reason.status()));
        }
        assertThat(rows("## 9. Circuits", 4)).isEqualTo(code);
    }

    @Test
    void header_fields_are_named_in_the_document() {
        for (String field :
                new String[] {StreamRequest.VERSION, StreamRequest.POLICY, StreamRequest.FROM, StreamRequest.CLOSE}) {
            assertThat(document).contains("| `" + field + "` |");
        }
    }

    @Test
    void a_renewal_has_a_certificate_or_a_word_and_each_within_its_limit() {
        ByteString certificate = ByteString.copyFromUtf8("0");
        for (String refused : new String[] {"", "Revoked", "no desk", "a".repeat(33), "-"}) {
            assertThatThrownBy(() -> RenewalResult.of(ByteString.EMPTY, refused))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("renewal: want");
        }
        assertThatThrownBy(() -> RenewalResult.of(certificate, "proof")).isInstanceOf(MalformedException.class);
        assertThatThrownBy(() -> RenewalResult.of(ByteString.copyFrom(new byte[4097]), ""))
                .isInstanceOf(MalformedException.class);
        for (int size : new int[] {0, 3073}) {
            assertThatThrownBy(() -> AgentMessage.read(new AgentMessage.Renew(ByteString.copyFrom(new byte[size]))
                            .wire()
                            .toByteArray()))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("1 to 3072 bytes");
        }
    }

    @Test
    void a_time_to_leave_is_an_hour_at_most_and_more_counts_as_that() throws MalformedException {
        byte[] most = {0x4a, 6, 8, -1, -1, -1, -1, 15};
        assertThat(RelayMessage.read(most)).isEqualTo(new RelayMessage.ShutdownRequest(Duration.ofHours(1)));
        assertThat(RelayMessage.read(new byte[] {0x4a, 0})).isEqualTo(new RelayMessage.ShutdownRequest(Duration.ZERO));
        for (Duration time : List.of(Duration.ofMillis(-1), Duration.ofHours(1).plusMillis(1))) {
            assertThatThrownBy(() -> new RelayMessage.ShutdownRequest(time)).hasMessageContaining("want 0 to 3600 s");
        }
    }

    @Test
    void every_message_reads_back_as_what_was_written() throws Exception {
        CertificateName name = new CertificateName("c", "controller", "p");
        DialBackToken token = DialBackToken.of(new byte[32]);
        for (AgentMessage message : new AgentMessage[] {
            new AgentMessage.Attach("agent-host 1"),
            new AgentMessage.Unserve(name),
            new AgentMessage.DialRefused(token, CloseReason.REFUSED),
            new AgentMessage.RevocationsKept(Digest.sha256(new byte[3])),
            new AgentMessage.Renew(ByteString.copyFromUtf8("request")),
            new AgentMessage.RenewalAnswered(9, RenewalResult.granted(new byte[] {0x30})),
            new AgentMessage.RenewalAnswered(9, RenewalResult.refused(IdentityClause.PROOF)),
            new AgentMessage.DeliverRevocations(ByteString.copyFromUtf8("signed"))
        }) {
            assertThat(AgentMessage.read(message.wire().toByteArray())).isEqualTo(message);
        }
        for (RelayMessage message : new RelayMessage[] {
            new RelayMessage.Served(name, Optional.of(CloseReason.CLAIMED)),
            new RelayMessage.Served(name, Optional.empty()),
            new RelayMessage.Dial(token, name, name, Digest.sha384("p")),
            new RelayMessage.Revocations(ByteString.copyFromUtf8("signed")),
            new RelayMessage.Drain(ReconnectDelay.DEFAULT),
            new RelayMessage.Renewed(RenewalResult.granted(new byte[] {0x30})),
            new RelayMessage.RenewalRequested(1, name, ByteString.copyFromUtf8("request")),
            new RelayMessage.ShutdownRequest(Duration.ZERO),
            new RelayMessage.ShutdownRequest(RelayMessage.ShutdownRequest.LONGEST)
        }) {
            assertThat(RelayMessage.read(message.wire().toByteArray())).isEqualTo(message);
        }
    }
}

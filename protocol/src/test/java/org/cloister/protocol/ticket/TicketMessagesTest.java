package org.cloister.protocol.ticket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.TestFrames;
import org.cloister.protocol.ticket.wire.FromOffice;
import org.cloister.protocol.ticket.wire.FromParty;
import org.cloister.protocol.ticket.wire.Refused;
import org.cloister.protocol.ticket.wire.Welcome;
import org.junit.jupiter.api.Test;

/** Compares the messages of ticket streams with docs/protocol.md, section 13. */
class TicketMessagesTest {
    private static final String ID = "aaaaaaaaaaaaaaaaaaaaaaaaaa";
    private static final ByteString BYTES = ByteString.copyFromUtf8("envelope");

    @Test
    void every_message_reads_back_as_what_was_written() throws Exception {
        for (AgentTicketMessage message : new AgentTicketMessage[] {
            new AgentTicketMessage.Proof(List.of(BYTES, BYTES), BYTES),
            new AgentTicketMessage.Submit(BYTES),
            new AgentTicketMessage.Withdraw(BYTES),
            new AgentTicketMessage.QueryTicket(ID),
            new AgentTicketMessage.Claim(ID, 7),
            new AgentTicketMessage.Report(ID, 4095, BYTES),
            new AgentTicketMessage.HostFault(ID, HostFaultCode.UNAVAILABLE, "job"),
            new AgentTicketMessage.QueryQuota(),
            new AgentTicketMessage.QueryOpenings(),
            new AgentTicketMessage.Open(List.of(BYTES, BYTES), BYTES),
            new AgentTicketMessage.Close(List.of(BYTES), BYTES)
        }) {
            assertThat(AgentTicketMessage.read(message.wire().toByteArray())).isEqualTo(message);
        }
        for (RelayTicketMessage message : new RelayTicketMessage[] {
            new RelayTicketMessage.Challenge(ByteString.copyFrom(new byte[32]), "r1.relay.site.cloister.internal"),
            new RelayTicketMessage.Welcome(BYTES, List.of()),
            new RelayTicketMessage.Welcome(BYTES, List.of(BYTES, BYTES, BYTES)),
            new RelayTicketMessage.Update(ID, TicketState.ACCEPTED, Optional.empty(), "", 0, ByteString.EMPTY, BYTES),
            new RelayTicketMessage.Update(
                    ID, TicketState.ENDED, Optional.of(TicketEnd.NODE_FAILED), "a node is down", 7, BYTES, BYTES),
            new RelayTicketMessage.Refused("", TicketClause.MALFORMED, "why"),
            new RelayTicketMessage.Refused(ID, TicketClause.NO_SLURM, "why"),
            new RelayTicketMessage.Refused(ID, TicketClause.SEQUENCE, "why", Ticket.MAX_COUNT),
            new RelayTicketMessage.Claimed(BYTES, List.of(BYTES), BYTES, BYTES, ProjectTrustBundle.none()),
            new RelayTicketMessage.Claimed(
                    BYTES, List.of(), BYTES, BYTES, new ProjectTrustBundle(List.of(BYTES, BYTES), BYTES, BYTES)),
            new RelayTicketMessage.StatementStored(ID, 0, BYTES),
            new RelayTicketMessage.ForwardedStatement(ID, 1, BYTES, List.of()),
            new RelayTicketMessage.ForwardedStatement(ID, 1, BYTES, List.of(BYTES, BYTES)),
            new RelayTicketMessage.HostFault(ID, 4095, HostFaultCode.GUEST, "running", "h1"),
            new RelayTicketMessage.Openings(0, List.of()),
            new RelayTicketMessage.Openings(9, List.of(standing(TicketState.QUEUED), standing(TicketState.ENDED))),
            new RelayTicketMessage.Quota(
                    "chem", Instant.parse("2027-01-01T00:00:00Z"), List.of(new RelayTicketMessage.Share("nodes", 1, 4)))
        }) {
            assertThat(RelayTicketMessage.read(message.wire().toByteArray())).isEqualTo(message);
        }
    }

    @Test
    void messages_travel_as_the_examples_show() throws Exception {
        AgentTicketMessage claim = new AgentTicketMessage.Claim(ID, 7);
        assertThat(TestFrames.frame(claim.wire())).isEqualTo(vector("from-party-claim"));
        AgentTicketMessage open = new AgentTicketMessage.Open(List.of(text("c")), text("o"));
        assertThat(TestFrames.frame(open.wire())).isEqualTo(vector("from-party-open"));
        AgentTicketMessage close = new AgentTicketMessage.Close(List.of(text("c")), text("w"));
        assertThat(TestFrames.frame(close.wire())).isEqualTo(vector("from-party-close"));
        AgentTicketMessage askOpenings = new AgentTicketMessage.QueryOpenings();
        assertThat(TestFrames.frame(askOpenings.wire())).isEqualTo(vector("from-party-ask-openings"));
        AgentTicketMessage fault = new AgentTicketMessage.HostFault(ID, HostFaultCode.HOST, "scratch");
        assertThat(TestFrames.frame(fault.wire())).isEqualTo(vector("from-party-fault"));
        RelayTicketMessage hostFault = new RelayTicketMessage.HostFault(ID, 1, HostFaultCode.HOST, "scratch", "h1");
        assertThat(TestFrames.frame(hostFault.wire())).isEqualTo(vector("from-office-host-fault"));
        RelayTicketMessage part = new RelayTicketMessage.ForwardedStatement("t", 1, text("s"), List.of(text("c")));
        assertThat(TestFrames.frame(part.wire())).isEqualTo(vector("from-office-part"));
        RelayTicketMessage welcome = new RelayTicketMessage.Welcome(text("h"), List.of(text("c")));
        assertThat(TestFrames.frame(welcome.wire())).isEqualTo(vector("from-office-welcome"));
        RelayTicketMessage refused = new RelayTicketMessage.Refused(ID, TicketClause.QUOTA, "x");
        assertThat(TestFrames.frame(refused.wire())).isEqualTo(vector("from-office-refused"));
        RelayTicketMessage usedEpoch = new RelayTicketMessage.Refused(ID, TicketClause.SEQUENCE, "x", 41);
        assertThat(TestFrames.frame(usedEpoch.wire())).isEqualTo(vector("from-office-used-epoch"));
        RelayTicketMessage claimed = new RelayTicketMessage.Claimed(
                text("t"),
                List.of(text("c")),
                text("a"),
                text("h"),
                new ProjectTrustBundle(List.of(text("g"), text("s")), text("p"), text("l")));
        assertThat(TestFrames.frame(claimed.wire())).isEqualTo(vector("from-office-claimed"));
    }

    private static ByteString text(String text) {
        return ByteString.copyFromUtf8(text);
    }

    private static byte[] vector(String name) throws IOException {
        String document = Files.readString(Path.of(System.getProperty("cloister.root"), "docs/protocol.md"));
        Matcher matcher =
                Pattern.compile("```vector " + name + "\n([0-9a-f\n]+)```").matcher(document);
        assertThat(matcher.find()).as("vector " + name).isTrue();
        return HexFormat.of().parseHex(matcher.group(1).replace("\n", ""));
    }

    @Test
    void what_is_out_of_range_or_of_no_word_is_refused() {
        for (FromParty message : List.of(
                new AgentTicketMessage.QueryTicket("A".repeat(26)).wire(),
                new AgentTicketMessage.Claim(ID, 0).wire(),
                new AgentTicketMessage.Claim(ID, -1).wire(),
                new AgentTicketMessage.HostFault(ID, HostFaultCode.HOST, "a b").wire(),
                FromParty.newBuilder()
                        .setFault(org.cloister.protocol.ticket.wire.Fault.newBuilder()
                                .setTicket(ID)
                                .setCode("other")
                                .setPhase("job"))
                        .build(),
                new AgentTicketMessage.Report(ID, 4096, BYTES).wire())) {
            assertThatThrownBy(() -> AgentTicketMessage.read(message.toByteArray()))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("want");
        }
        org.cloister.protocol.ticket.wire.Update good = new RelayTicketMessage.Update(
                        ID, TicketState.QUEUED, Optional.empty(), "", 7, ByteString.EMPTY, BYTES)
                .wire()
                .getUpdate();
        for (org.cloister.protocol.ticket.wire.Update bad : List.of(
                good.toBuilder().setState("waiting").build(),
                good.toBuilder().setEnd("lost").build(),
                good.toBuilder().setState("ended").build(),
                good.toBuilder().setText("\n").build(),
                good.toBuilder().setText("a".repeat(513)).build())) {
            assertThatThrownBy(() -> RelayTicketMessage.read(
                            FromOffice.newBuilder().setUpdate(bad).build().toByteArray()))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("want");
        }
    }

    private static OpeningStatus standing(TicketState state) {
        Instant now = Instant.parse("2026-06-02T09:00:00Z");
        boolean ended = state == TicketState.ENDED;
        return new OpeningStatus(
                ID,
                "cat.opener.p.cloister.internal",
                "main",
                9,
                state,
                ended ? Optional.of(TicketEnd.SUPERSEDED) : Optional.empty(),
                "text",
                ended ? 7 : 0,
                now,
                ended ? Optional.of(now.plusSeconds(1)) : Optional.empty(),
                ended ? Optional.of(now.plusSeconds(2)) : Optional.empty(),
                ended ? "h1.host.site.cloister.internal" : "",
                ended,
                !ended);
    }

    @Test
    void openings_with_an_unknown_word_or_too_many_are_refused() {
        org.cloister.protocol.ticket.wire.Openings good = new RelayTicketMessage.Openings(
                        9, List.of(standing(TicketState.ENDED)))
                .wire()
                .getOpenings();
        var one = good.getOpenings(0);
        for (org.cloister.protocol.ticket.wire.Openings bad : List.of(
                good.toBuilder().setEpoch(-1).build(),
                good.toBuilder()
                        .setOpenings(0, one.toBuilder().setState("open"))
                        .build(),
                good.toBuilder().setOpenings(0, one.toBuilder().setEnd("gone")).build(),
                good.toBuilder().setOpenings(0, one.toBuilder().setHost("a\nb")).build(),
                good.toBuilder()
                        .addAllOpenings(java.util.Collections.nCopies(16, one))
                        .build())) {
            assertThatThrownBy(() -> RelayTicketMessage.read(
                            FromOffice.newBuilder().setOpenings(bad).build().toByteArray()))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("want");
        }
    }

    @Test
    void a_newest_epoch_is_one_and_goes_with_its_clause_alone() {
        Refused good = new RelayTicketMessage.Refused(ID, TicketClause.SEQUENCE, "x", 41)
                .wire()
                .getRefused();
        for (Refused bad : List.of(
                good.toBuilder().setNewestEpoch(-1).build(),
                good.toBuilder().setNewestEpoch(Ticket.MAX_COUNT + 1).build(),
                good.toBuilder().setClause("quota").build())) {
            assertThatThrownBy(() -> RelayTicketMessage.read(
                            FromOffice.newBuilder().setRefused(bad).build().toByteArray()))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("refusal: want a newest epoch");
        }
    }

    @Test
    void a_welcome_has_no_chain_longer_than_chains_are() {
        Welcome good = Welcome.newBuilder().setHead(BYTES).addChain(BYTES).build();
        for (Welcome bad : List.of(
                good.toBuilder().addAllChain(List.of(BYTES, BYTES, BYTES)).build(),
                good.toBuilder().addChain(ByteString.EMPTY).build(),
                good.toBuilder().addChain(ByteString.copyFrom(new byte[4097])).build())) {
            assertThatThrownBy(() -> RelayTicketMessage.read(
                            FromOffice.newBuilder().setWelcome(bad).build().toByteArray()))
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining("welcome: want");
        }
    }

    @Test
    void an_unknown_critical_field_ends_the_stream_and_an_unknown_other_one_does_not() throws Exception {
        assertThatThrownBy(() -> AgentTicketMessage.read(
                        FromParty.newBuilder().addCritical(99).build().toByteArray()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("field 99 is critical");
        byte[] unknown = {(byte) 0x9a, 6, 1, 1};
        assertThat(AgentTicketMessage.read(unknown)).isEqualTo(new AgentTicketMessage.UnknownMessage());
        assertThat(RelayTicketMessage.read(unknown)).isEqualTo(new RelayTicketMessage.UnknownMessage());
    }

    @Test
    void a_proof_is_of_one_relay_and_one_challenge() throws Exception {
        TicketStreamProof proof = TicketStreamProof.of("r1.relay.site.cloister.internal", new byte[32]);
        assertThat(TicketStreamProof.parse(proof.payload())).isEqualTo(proof);
        assertThatThrownBy(() -> TicketStreamProof.parse(new TicketStreamProof("R1", proof.nonce()).payload()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("relay: want");
    }
}

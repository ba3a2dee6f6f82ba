package org.cloister.host.tickets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProjectVerifierTest {
    private static final Instant LATER = ClaimFixture.NOW.plus(Duration.ofHours(20));

    @TempDir
    private Path folder;

    private ClaimFixture fixture;
    private EpochStore epochs;
    private TrustStore trustStore;
    private Instant now = ClaimFixture.NOW.plusSeconds(40);

    @BeforeEach
    void begin() throws Exception {
        fixture = new ClaimFixture();
        restart();
    }

    /** Of the host: what is not on disk is forgotten. */
    private void restart() throws IOException {
        epochs = EpochStore.open(folder.resolve("epochs"));
        trustStore = new TrustStore(fixture.anchors(), RevocationLists.none(), () -> now);
    }

    private CertifiedIdentity read(ProjectTrustBundle bundle) throws IOException {
        ProjectVerifier reader = new ProjectVerifier(trustStore, epochs);
        reader.verify("ticket", fixture.genesis.id(), bundle);
        return reader.verifySigner("ticket", CertificateChain.parse(fixture.controller));
    }

    private void refused(TicketClause clause, String text, ProjectTrustBundle bundle) {
        TicketRefusedException refused = catchThrowableOfType(TicketRefusedException.class, () -> read(bundle));
        assertThat(refused).isNotNull();
        assertThat(refused.clause()).as(refused.getMessage()).isEqualTo(clause);
        assertThat(refused).hasMessageContaining(text);
    }

    private ProjectTrustBundle with(List<byte[]> documents) {
        return new ProjectTrustBundle(
                documents.stream().map(ByteString::copyFrom).toList(), fixture.approval, fixture.list);
    }

    private ProjectHistory successor() throws Exception {
        return ClaimFixture.successor(
                fixture.genesis,
                ClaimFixture.owners(fixture.ann, fixture.ben, fixture.eve),
                fixture.ann,
                fixture.ben,
                fixture.eve);
    }

    @Test
    void papers_that_hold_bring_the_project_in() throws Exception {
        fixture.history = successor();
        assertThat(read(fixture.bundle()).name().id()).isEqualTo("c1");
        assertThat(trustStore.anchors().of(fixture.genesis.id()))
                .contains(fixture.ann.verificationKey(), fixture.eve.verificationKey());
        restart();
        assertThat(epochs.marks(fixture.genesis.id()).orElseThrow().number()).isEqualTo(1);
        assertThat(epochs.ticketEpoch(fixture.genesis.id())).isZero();
        assertThat(read(fixture.bundle()).name().id()).isEqualTo("c1");
    }

    @Test
    void documents_of_another_project_none_and_without_their_genesis_are_refused() throws Exception {
        ClaimFixture other = new ClaimFixture();
        refused(TicketClause.PROJECT, other.genesis.id(), with(other.genesis.envelopes()));
        refused(TicketClause.MALFORMED, "genesis", with(List.of()));
        refused(TicketClause.MALFORMED, "format", with(successor().envelopes().subList(1, 2)));
        refused(TicketClause.MALFORMED, "genesis", ProjectTrustBundle.none());
        assertThat(folder.resolve("epochs")).doesNotExist();
    }

    @Test
    void a_successor_that_was_altered_or_is_missing_or_another_projects_is_refused() throws Exception {
        byte[] unsigned = ClaimFixture.successorEnvelope(
                fixture.genesis, ClaimFixture.owners(fixture.ann, fixture.ben, fixture.eve), fixture.ann, fixture.eve);
        byte[] first = fixture.genesis.envelopes().get(0);
        refused(TicketClause.SIGNATURE, "signatures", with(List.of(first, unsigned)));
        ProjectHistory third = ClaimFixture.successor(
                successor(), ClaimFixture.owners(fixture.ann, fixture.ben), fixture.ann, fixture.ben);
        refused(
                TicketClause.SEQUENCE,
                "number",
                with(List.of(first, third.envelopes().get(2))));
        ClaimFixture other = new ClaimFixture();
        byte[] alien = ClaimFixture.successorEnvelope(
                other.genesis, ClaimFixture.owners(other.ann, other.ben), other.ann, other.ben);
        refused(TicketClause.PROJECT, other.genesis.id(), with(List.of(first, alien)));
        assertThat(folder.resolve("epochs")).doesNotExist();
    }

    @Test
    void an_approval_of_another_key_another_project_or_another_time_is_refused() throws Exception {
        fixture.approval = fixture.approval(1, LATER, ClaimFixture.key(SignatureCurve.P256));
        refused(TicketClause.SIGNATURE, "approval", fixture.bundle());
        fixture.approval = ClaimFixture.approval(new ClaimFixture().genesis.id(), 1, LATER, fixture.siteKey);
        refused(TicketClause.PROJECT, "an approval of", fixture.bundle());
        fixture.approval = ByteString.EMPTY;
        refused(TicketClause.MALFORMED, "approval", fixture.bundle());
        assertThat(folder.resolve("epochs")).doesNotExist();
        fixture.approval = fixture.approval(1, now, fixture.siteKey);
        refused(TicketClause.EXPIRED, "an approval that is valid at", fixture.bundle());
        assertThat(trustStore.anchors().of(fixture.genesis.id())).isEmpty();
    }

    @Test
    void nothing_older_than_what_was_seen_is_taken_even_after_a_restart() throws Exception {
        ProjectTrustBundle first = fixture.bundle();
        fixture.history = successor();
        ProjectTrustBundle second = fixture.bundle();
        fixture.approval = fixture.approval(2, LATER, fixture.siteKey);
        ProjectTrustBundle third = fixture.bundle();
        fixture.list = fixture.list(2);
        read(fixture.bundle());
        restart();
        refused(TicketClause.SEQUENCE, "document 1 or a later one, have 0", first);
        refused(TicketClause.SEQUENCE, "approval 2 or a later one, have 1", second);
        refused(TicketClause.SEQUENCE, "revocation list 2", third);
        read(fixture.bundle());
    }

    @Test
    void a_withdrawn_project_stays_withdrawn_though_a_relay_shows_the_approval_before() throws Exception {
        ProjectTrustBundle good = fixture.bundle();
        fixture.approval = fixture.approval(2, now, fixture.siteKey);
        refused(TicketClause.EXPIRED, "number 2", fixture.bundle());
        refused(TicketClause.SEQUENCE, "approval 2 or a later one, have 1", good);
    }

    @Test
    void a_fork_of_a_document_that_was_seen_is_refused() throws Exception {
        fixture.history = successor();
        read(fixture.bundle());
        fixture.history = ClaimFixture.successor(
                fixture.genesis, ClaimFixture.owners(fixture.ann, fixture.ben), fixture.ann, fixture.ben);
        refused(TicketClause.SEQUENCE, "signed two documents with one number", fixture.bundle());
    }

    @Test
    void without_a_list_nobody_is_believed_and_a_list_that_revokes_counts_from_wherever_it_came() throws Exception {
        ByteString list = fixture.list;
        fixture.list = ByteString.EMPTY;
        refused(TicketClause.EXPIRED, "a revocation list", fixture.bundle());
        fixture.list = list;
        CertifiedIdentity controller = read(fixture.bundle());
        fixture.list = ByteString.EMPTY;
        read(fixture.bundle());
        fixture.list = fixture.list(2, controller.serial());
        refused(TicketClause.SIGNATURE, "revoked", fixture.bundle());
        fixture.list = list;
        refused(TicketClause.SIGNATURE, "revoked", fixture.bundle());
        restart();
        refused(TicketClause.SEQUENCE, "revocation list 2", fixture.bundle());

        begin();
        read(fixture.bundle());
        trustStore.addRevocationList(
                fixture.list(7, BigInteger.ONE, read(fixture.bundle()).serial()).toByteArray());
        refused(TicketClause.SIGNATURE, "revoked", fixture.bundle());
    }

    @Test
    void a_list_of_nobodys_and_one_that_has_ended_are_refused() throws Exception {
        ByteString list = fixture.list;
        fixture.list = new ClaimFixture().list;
        refused(TicketClause.SIGNATURE, "revocation list", fixture.bundle());
        fixture.list = list;
        now = ClaimFixture.NOW.plus(Duration.ofHours(23)).plusSeconds(1);
        refused(TicketClause.EXPIRED, "revocation list", fixture.bundle());
    }

    @Test
    void more_documents_than_an_answer_holds_are_refused() {
        List<byte[]> many = new ArrayList<>();
        many.add(new byte[ProjectTrustBundle.MAX_DOCUMENTS]);
        many.add(new byte[1]);
        refused(TicketClause.LIMIT, "documents of at most", with(many));
    }
}

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

    private ClaimFixture world;
    private EpochStore book;
    private TrustStore beliefs;
    private Instant now = ClaimFixture.NOW.plusSeconds(40);

    @BeforeEach
    void begin() throws Exception {
        world = new ClaimFixture();
        restart();
    }

    /** Of the host: what is not on disk is forgotten. */
    private void restart() throws IOException {
        book = EpochStore.open(folder.resolve("epochs"));
        beliefs = new TrustStore(world.anchors(), RevocationLists.none(), () -> now);
    }

    private CertifiedIdentity read(ProjectTrustBundle papers) throws IOException {
        ProjectVerifier reader = new ProjectVerifier(beliefs, book);
        reader.verify("ticket", world.genesis.id(), papers);
        return reader.verifySigner("ticket", CertificateChain.parse(world.controller));
    }

    private void refused(TicketClause clause, String text, ProjectTrustBundle papers) {
        TicketRefusedException refused = catchThrowableOfType(TicketRefusedException.class, () -> read(papers));
        assertThat(refused).isNotNull();
        assertThat(refused.clause()).as(refused.getMessage()).isEqualTo(clause);
        assertThat(refused).hasMessageContaining(text);
    }

    private ProjectTrustBundle with(List<byte[]> documents) {
        return new ProjectTrustBundle(
                documents.stream().map(ByteString::copyFrom).toList(), world.approval, world.list);
    }

    private ProjectHistory successor() throws Exception {
        return ClaimFixture.successor(
                world.genesis, ClaimFixture.owners(world.ann, world.ben, world.eve), world.ann, world.ben, world.eve);
    }

    @Test
    void papers_that_hold_bring_the_project_in() throws Exception {
        world.history = successor();
        assertThat(read(world.papers()).name().id()).isEqualTo("c1");
        assertThat(beliefs.anchors().of(world.genesis.id()))
                .contains(world.ann.verificationKey(), world.eve.verificationKey());
        restart();
        assertThat(book.marks(world.genesis.id()).orElseThrow().number()).isEqualTo(1);
        assertThat(book.ticketEpoch(world.genesis.id())).isZero();
        assertThat(read(world.papers()).name().id()).isEqualTo("c1");
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
                world.genesis, ClaimFixture.owners(world.ann, world.ben, world.eve), world.ann, world.eve);
        byte[] first = world.genesis.envelopes().get(0);
        refused(TicketClause.SIGNATURE, "signatures", with(List.of(first, unsigned)));
        ProjectHistory third =
                ClaimFixture.successor(successor(), ClaimFixture.owners(world.ann, world.ben), world.ann, world.ben);
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
        world.approval = world.approval(1, LATER, ClaimFixture.key(SignatureCurve.P256));
        refused(TicketClause.SIGNATURE, "approval", world.papers());
        world.approval = ClaimFixture.approval(new ClaimFixture().genesis.id(), 1, LATER, world.siteKey);
        refused(TicketClause.PROJECT, "an approval of", world.papers());
        world.approval = ByteString.EMPTY;
        refused(TicketClause.MALFORMED, "approval", world.papers());
        assertThat(folder.resolve("epochs")).doesNotExist();
        world.approval = world.approval(1, now, world.siteKey);
        refused(TicketClause.EXPIRED, "an approval that is valid at", world.papers());
        assertThat(beliefs.anchors().of(world.genesis.id())).isEmpty();
    }

    @Test
    void nothing_older_than_what_was_seen_is_taken_even_after_a_restart() throws Exception {
        ProjectTrustBundle first = world.papers();
        world.history = successor();
        ProjectTrustBundle second = world.papers();
        world.approval = world.approval(2, LATER, world.siteKey);
        ProjectTrustBundle third = world.papers();
        world.list = world.list(2);
        read(world.papers());
        restart();
        refused(TicketClause.SEQUENCE, "document 1 or a later one, have 0", first);
        refused(TicketClause.SEQUENCE, "approval 2 or a later one, have 1", second);
        refused(TicketClause.SEQUENCE, "revocation list 2", third);
        read(world.papers());
    }

    @Test
    void a_withdrawn_project_stays_withdrawn_though_a_relay_shows_the_approval_before() throws Exception {
        ProjectTrustBundle good = world.papers();
        world.approval = world.approval(2, now, world.siteKey);
        refused(TicketClause.EXPIRED, "number 2", world.papers());
        refused(TicketClause.SEQUENCE, "approval 2 or a later one, have 1", good);
    }

    @Test
    void a_fork_of_a_document_that_was_seen_is_refused() throws Exception {
        world.history = successor();
        read(world.papers());
        world.history =
                ClaimFixture.successor(world.genesis, ClaimFixture.owners(world.ann, world.ben), world.ann, world.ben);
        refused(TicketClause.SEQUENCE, "signed two documents with one number", world.papers());
    }

    @Test
    void without_a_list_nobody_is_believed_and_a_list_that_revokes_counts_from_wherever_it_came() throws Exception {
        ByteString list = world.list;
        world.list = ByteString.EMPTY;
        refused(TicketClause.EXPIRED, "a revocation list", world.papers());
        world.list = list;
        CertifiedIdentity controller = read(world.papers());
        world.list = ByteString.EMPTY;
        read(world.papers());
        world.list = world.list(2, controller.serial());
        refused(TicketClause.SIGNATURE, "revoked", world.papers());
        world.list = list;
        refused(TicketClause.SIGNATURE, "revoked", world.papers());
        restart();
        refused(TicketClause.SEQUENCE, "revocation list 2", world.papers());

        begin();
        read(world.papers());
        beliefs.addRevocationList(
                world.list(7, BigInteger.ONE, read(world.papers()).serial()).toByteArray());
        refused(TicketClause.SIGNATURE, "revoked", world.papers());
    }

    @Test
    void a_list_of_nobodys_and_one_that_has_ended_are_refused() throws Exception {
        ByteString list = world.list;
        world.list = new ClaimFixture().list;
        refused(TicketClause.SIGNATURE, "revocation list", world.papers());
        world.list = list;
        now = ClaimFixture.NOW.plus(Duration.ofHours(23)).plusSeconds(1);
        refused(TicketClause.EXPIRED, "revocation list", world.papers());
    }

    @Test
    void more_documents_than_an_answer_holds_are_refused() {
        List<byte[]> many = new ArrayList<>();
        many.add(new byte[ProjectTrustBundle.MAX_DOCUMENTS]);
        many.add(new byte[1]);
        refused(TicketClause.LIMIT, "documents of at most", with(many));
    }
}

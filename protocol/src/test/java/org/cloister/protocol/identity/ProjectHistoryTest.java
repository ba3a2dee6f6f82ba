package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

class ProjectHistoryTest {
    private final Instant now = Instant.parse("2026-11-21T10:00:00Z");
    private final SigningKey ann = KeySamples.signing(SignatureCurve.P384);
    private final SigningKey ben = KeySamples.signing(SignatureCurve.P384);
    private final SigningKey eve = KeySamples.signing(SignatureCurve.P384);
    private final ProjectOwners both =
            new ProjectOwners(2, List.of(KeySamples.owner("ann", ann), KeySamples.owner("ben", ben)));
    private final byte[] payload = ProjectDocument.genesis(both, now, new SecureRandom());
    private final ProjectHistory project =
            ProjectHistory.fromGenesis(KeySamples.sign(ProjectDocument.GENESIS, payload, List.of(ann, ben)));

    ProjectHistoryTest() throws Exception {}

    private static IdentityClause clauseOf(Throwable thrown) {
        assertThat(thrown).isInstanceOf(IdentityRefusedException.class);
        return ((IdentityRefusedException) thrown).clause();
    }

    private byte[] next(ProjectHistory after, ProjectOwners owners, SigningKey... signers) throws Exception {
        return KeySamples.sign(ProjectDocument.SUCCESSOR, after.successor(owners, now), List.of(signers));
    }

    @Test
    void the_id_is_the_digest_of_the_payload_and_stays_through_successors() throws Exception {
        assertThat(project.id()).isEqualTo(ProjectDocument.idOf(payload)).matches(ProjectDocument.ID);
        ProjectOwners three = new ProjectOwners(
                2, List.of(KeySamples.owner("ann", ann), KeySamples.owner("ben", ben), KeySamples.owner("eve", eve)));
        ProjectHistory later = project.with(next(project, three, ann, ben, eve));
        assertThat(later.id()).isEqualTo(project.id());
        assertThat(later.number()).isOne();
        assertThat(later.ownerKeys()).contains(eve.verificationKey());
        assertThat(ProjectHistory.of(later.envelopes()).owners()).isEqualTo(three);
    }

    @Test
    void a_genesis_is_signed_by_each_owner_it_lists() throws Exception {
        byte[] half = KeySamples.sign(ProjectDocument.GENESIS, payload, List.of(ann));
        assertThat(clauseOf(catchThrowable(() -> ProjectHistory.fromGenesis(half))))
                .isEqualTo(IdentityClause.SIGNATURES);
        byte[] unknown = KeySamples.sign(ProjectDocument.GENESIS, payload, List.of(ann, eve));
        assertThat(clauseOf(catchThrowable(() -> ProjectHistory.fromGenesis(unknown))))
                .isEqualTo(IdentityClause.SIGNATURES);
        byte[] twice = KeySamples.sign(ProjectDocument.GENESIS, payload, List.of(ann, ann));
        assertThat(clauseOf(catchThrowable(() -> ProjectHistory.fromGenesis(twice))))
                .isEqualTo(IdentityClause.SIGNATURES);
        byte[] otherType = KeySamples.sign(ProjectApproval.TYPE, payload, List.of(ann, ben));
        assertThat(clauseOf(catchThrowable(() -> ProjectHistory.fromGenesis(otherType))))
                .isEqualTo(IdentityClause.SIGNATURES);
    }

    @Test
    void fewer_than_the_threshold_change_nothing_and_a_new_owner_must_agree() throws Exception {
        ProjectOwners taken = new ProjectOwners(1, List.of(KeySamples.owner("ann", ann), KeySamples.owner("eve", eve)));
        for (SigningKey[] signers :
                List.of(new SigningKey[] {ann, eve}, new SigningKey[] {eve}, new SigningKey[] {ann, ben})) {
            byte[] document = next(project, taken, signers);
            assertThat(clauseOf(catchThrowable(() -> project.with(document)))).isEqualTo(IdentityClause.SIGNATURES);
        }
        assertThat(project.with(next(project, taken, ann, ben, eve)).owners().threshold())
                .isOne();
    }

    @Test
    void a_removed_owner_signs_no_more() throws Exception {
        ProjectOwners without =
                new ProjectOwners(2, List.of(KeySamples.owner("ben", ben), KeySamples.owner("eve", eve)));
        ProjectHistory later = project.with(next(project, without, ann, ben, eve));
        byte[] back = next(later, both, ann, ben);
        assertThat(clauseOf(catchThrowable(() -> later.with(back)))).isEqualTo(IdentityClause.SIGNATURES);
    }

    @Test
    void documents_come_in_order_once_and_without_fork() throws Exception {
        ProjectOwners one = new ProjectOwners(1, both.owners());
        byte[] first = next(project, one, ann, ben);
        byte[] fork = next(
                project,
                new ProjectOwners(2, List.of(KeySamples.owner("ben", ben), KeySamples.owner("ann", ann))),
                ann,
                ben);
        ProjectHistory later = project.with(first);
        byte[] second = next(later, both, ann);
        ProjectHistory last = later.with(second);
        assertThat(last.with(first)).isSameAs(last);
        assertThat(clauseOf(catchThrowable(() -> later.with(fork)))).isEqualTo(IdentityClause.FORK);
        assertThat(clauseOf(catchThrowable(() -> project.with(second)))).isEqualTo(IdentityClause.NUMBER);
        ProjectHistory other = project.with(fork);
        assertThat(clauseOf(catchThrowable(() -> other.with(second)))).isEqualTo(IdentityClause.FORK);
    }

    @Test
    void another_projects_document_is_refused() throws Exception {
        byte[] payload2 = ProjectDocument.genesis(both, now, new SecureRandom());
        ProjectHistory other =
                ProjectHistory.fromGenesis(KeySamples.sign(ProjectDocument.GENESIS, payload2, List.of(ann, ben)));
        assertThat(other.id()).isNotEqualTo(project.id());
        byte[] document = next(other, new ProjectOwners(1, both.owners()), ann, ben);
        assertThat(clauseOf(catchThrowable(() -> project.with(document)))).isEqualTo(IdentityClause.PROJECT);
    }

    @Test
    void owners_are_two_to_sixteen_each_once_of_P384_and_the_threshold_is_among_them() throws Exception {
        ProjectOwners.Owner a = KeySamples.owner("ann", ann);
        assertThatThrownBy(() -> new ProjectOwners(1, List.of(a))).hasMessageContaining("2 to 16");
        for (int threshold : new int[] {0, -1, 3}) {
            assertThatThrownBy(() -> new ProjectOwners(threshold, both.owners()))
                    .hasMessageContaining("threshold");
        }
        assertThatThrownBy(() -> new ProjectOwners(1, List.of(a, KeySamples.owner("eve", ann))))
                .hasMessageContaining("once");
        assertThatThrownBy(() -> new ProjectOwners(1, List.of(a, KeySamples.owner("ann", ben))))
                .hasMessageContaining("once");
        assertThatThrownBy(() -> new ProjectOwners(
                        1, List.of(a, KeySamples.owner("x", KeySamples.signing(SignatureCurve.P256)))))
                .hasMessageContaining("secp384r1");
    }

    @Test
    void unknown_members_are_skipped_and_unknown_critical_ones_refused() throws Exception {
        String text = new String(payload, StandardCharsets.UTF_8);
        byte[] more = text.replaceFirst("\\{", "{\"later\":{\"x\":1},").getBytes(StandardCharsets.UTF_8);
        assertThat(ProjectDocument.parseGenesis(more).owners()).isEqualTo(both);
        byte[] critical = text.replaceFirst("\\{", "{\"later\":1,\"critical\":[\"later\"],")
                .getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> ProjectDocument.parseGenesis(critical))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("later");
        byte[] twice = text.replaceFirst("\\{", "{\"threshold\":1,").getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> ProjectDocument.parseGenesis(twice)).isInstanceOf(MalformedException.class);
    }
}

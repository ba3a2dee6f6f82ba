package org.cloister.protocol.evidence;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmRole;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class EvidenceVerifierTest {
    private static final Set<EvidenceClause> STOP = EnumSet.of(EvidenceClause.SIGNATURE, EvidenceClause.FORMAT);
    private static final int SUBSETS = 300;

    @Test
    void a_world_in_which_all_is_well_is_accepted() throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        assertThat(world.verdict())
                .isEqualTo(new AttestationResult.Accepted(world.statement(), AssuranceLevel.HOST_WORD));
    }

    @ParameterizedTest
    @EnumSource(EvidenceClause.class)
    void each_clause_denies_alone(EvidenceClause clause) throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        world.deny(clause);
        List<AttestationResult.Failure> failures = failures(world);
        assertThat(failures).extracting(AttestationResult.Failure::clause).containsExactly(clause);
        assertThat(failures.get(0).toString())
                .startsWith(clause.id() + ": ")
                .contains("; ")
                .doesNotEndWith(".");
    }

    @Test
    void whatever_fails_together_is_said_at_once() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < SUBSETS; i++) {
            EvidenceFixture world = new EvidenceFixture();
            List<EvidenceClause> expected = new ArrayList<>();
            for (EvidenceClause clause : EvidenceClause.values()) {
                if (!STOP.contains(clause) && random.nextInt(3) == 0) {
                    world.deny(clause);
                    expected.add(clause);
                }
            }
            if (expected.isEmpty()) {
                assertThat(world.verdict())
                        .as("seed %d, try %d", seed, i)
                        .isInstanceOf(AttestationResult.Accepted.class);
                continue;
            }
            assertThat(failures(world))
                    .as("seed %d, try %d", seed, i)
                    .extracting(AttestationResult.Failure::clause)
                    .containsExactlyElementsOf(expected);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = EvidenceClause.class,
            names = {"SIGNATURE", "FORMAT"})
    void what_nobody_vouches_for_is_not_looked_at(EvidenceClause clause) throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        for (EvidenceClause each : EvidenceClause.values()) {
            world.deny(each);
        }
        if (clause == EvidenceClause.FORMAT) {
            world.signer = new EvidenceFixture().signer;
        }
        assertThat(failures(world))
                .extracting(AttestationResult.Failure::clause)
                .containsExactly(clause);
    }

    @ParameterizedTest
    @CsvSource({
        "HOST_WORD, true, true, HOST_WORD",
        "HOST_WORD, false, false, HOST_WORD",
        "HOST_TPM, true, true, HOST_TPM",
        "HOST_TPM, false, true, HOST_WORD",
        "HOST_TPM, true, false, HOST_WORD",
        "SEV_SNP, true, true, SEV_SNP",
        "SEV_SNP, false, true, HOST_WORD",
        "SEV_SNP, true, false, HOST_WORD",
    })
    void the_weakest_part_is_the_level(
            AssuranceLevel evidence, boolean encryption, boolean integrity, AssuranceLevel level) {
        assertThat(AssuranceLevel.minimum(evidence, encryption, integrity)).isEqualTo(level);
    }

    @ParameterizedTest
    @CsvSource({"HOST_TPM, tpm2-quote, 1 (host TPM quote)", "SEV_SNP, sev-snp-report, 2 (SEV-SNP report)"})
    void higher_levels_are_refused_by_name(AssuranceLevel level, String type, String title) throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        world.level = level;
        world.driveIntegrity = true;
        world.attachments.add(new PlatformEvidence(type, "AAAA"));
        List<AttestationResult.Failure> failures = failures(world);
        assertThat(failures).hasSize(1);
        assertThat(failures.get(0).toString())
                .startsWith(
                        "level: want " + title + ", which is not verified in this release, have 0 (the host's word)")
                .contains(title + " offered and not verified in this release")
                .contains("worker encryption on, drive integrity on");
    }

    @Test
    void an_attachment_of_a_kind_without_a_name_counts_for_nothing() throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        world.attachments.add(new PlatformEvidence("tdx-quote", "AAAA"));
        assertThat(world.verdict()).isInstanceOf(AttestationResult.Accepted.class);
        world.level = AssuranceLevel.HOST_TPM;
        assertThat(failures(world)).hasSize(1);
    }

    @Test
    void an_image_on_its_way_out_is_refused_from_its_end_on() throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        assertThat(world.verdict()).isInstanceOf(AttestationResult.Accepted.class);
        world.now = EvidenceFixture.NOW.plusSeconds(1);
        assertThat(failures(world))
                .extracting(AttestationResult.Failure::clause)
                .containsExactly(EvidenceClause.IMAGE);
    }

    @Test
    void a_policy_ends_when_it_says() throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        world.image = Digest.sha384("newer");
        world.now = world.policy().until().minusSeconds(1);
        assertThat(world.verdict()).isInstanceOf(AttestationResult.Accepted.class);
        world.now = world.policy().until();
        assertThat(failures(world))
                .extracting(AttestationResult.Failure::clause)
                .containsExactly(EvidenceClause.VALIDITY);
    }

    @Test
    void the_limit_of_a_role_is_that_of_the_role() throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        world.role = VmRole.CONTROLLER;
        world.shape = EvidenceFixture.LIMIT;
        assertThat(failures(world))
                .extracting(AttestationResult.Failure::clause)
                .containsExactly(EvidenceClause.ROLE);
    }

    /** A host that may speak for itself cannot speak for the one that the allocation names. */
    @Test
    void another_accepted_host_s_word_is_no_word() throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        SigningKey other = EvidenceFixture.key(SignatureCurve.P256);
        world.signer = other;
        world.hosts = List.of(world.hosts.get(0), new AcceptedHost("node19", other.verificationKey()));
        assertThat(failures(world))
                .extracting(AttestationResult.Failure::clause)
                .containsExactly(EvidenceClause.SIGNATURE);
    }

    @Test
    void a_policy_shown_as_a_statement_is_refused_unread() throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        DsseEnvelope policy =
                DsseEnvelope.sign(ProjectPolicy.TYPE, world.statement().json(), world.signer);
        AttestationResult verdict = EvidenceVerifier.appraise(world.policy(), world.expectation(), policy, world.now);
        assertThat(verdict.toString()).startsWith("signature: payload type: want " + EvidenceStatement.TYPE);
    }

    @Test
    void an_unknown_member_is_skipped_and_an_unknown_critical_one_refused() throws Exception {
        EvidenceFixture world = new EvidenceFixture();
        String json = new String(world.statement().json(), UTF_8);
        String more = json.replaceFirst("\\{", "{\"mood\":\"fine\",");
        assertThat(decide(world, more)).isInstanceOf(AttestationResult.Accepted.class);
        String critical = json.replaceFirst("\\{", "{\"mood\":\"fine\",\"critical\":[\"mood\"],");
        assertThat(decide(world, critical).toString())
                .startsWith("format: mood: critical, and unknown to this version");
        String absent = json.replaceFirst("\\{", "{\"critical\":[\"mood\"],");
        assertThat(decide(world, absent).toString()).startsWith("format: critical: names \"mood\", which is not there");
    }

    private static AttestationResult decide(EvidenceFixture world, String payload) throws Exception {
        DsseEnvelope envelope = DsseEnvelope.sign(EvidenceStatement.TYPE, payload.getBytes(UTF_8), world.signer);
        return EvidenceVerifier.appraise(world.policy(), world.expectation(), envelope, world.now);
    }

    private static List<AttestationResult.Failure> failures(EvidenceFixture world) throws MalformedException {
        AttestationResult verdict = world.verdict();
        assertThat(verdict).isInstanceOf(AttestationResult.Refused.class);
        return ((AttestationResult.Refused) verdict).failures();
    }
}

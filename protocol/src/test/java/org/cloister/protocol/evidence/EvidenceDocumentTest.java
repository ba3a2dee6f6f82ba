package org.cloister.protocol.evidence;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.policy.PolicyRequirement;
import org.cloister.protocol.policy.PolicySuccession;
import org.cloister.protocol.policy.ProjectPolicy;
import org.junit.jupiter.api.Test;

/** Sections 4, 11 and 12 of docs/protocol.md say what the code does: examples, vectors, clauses and limits. */
class EvidenceDocumentTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int STATEMENT_ENVELOPE = 192 * 1024;
    private static final int POLICY_ENVELOPE = 1536 * 1024;

    private final String page = Files.readString(Path.of(System.getProperty("cloister.root"), "docs", "protocol.md"));
    private final Map<String, String> vectors = vectors(page);

    EvidenceDocumentTest() throws IOException {}

    @Test
    void the_statement_is_read_and_written_as_it_stands() throws Exception {
        String example = block("json statement");
        EvidenceStatement statement = EvidenceStatement.parse(example.getBytes(UTF_8));
        assertThat(JSON.readTree(statement.json())).isEqualTo(JSON.readTree(example));
        assertThat(statement.claim().binding()).hasToString(vector("binding"));
    }

    @Test
    void the_policy_is_read_and_written_as_it_stands() throws Exception {
        String example = block("json policy");
        ProjectPolicy policy = ProjectPolicy.parse(example.getBytes(UTF_8));
        assertThat(JSON.readTree(policy.json())).isEqualTo(JSON.readTree(example));
        assertThat(policy.loosens()).containsExactly(PolicyRequirement.SHARING);
    }

    @Test
    void the_signed_statement_is_the_example_s() throws Exception {
        VerificationKey host = key("host-key");
        assertThat(host.id()).isEqualTo(vector("host-key-id"));
        DsseEnvelope envelope = DsseEnvelope.parse(vector("statement").getBytes(UTF_8), STATEMENT_ENVELOPE);
        byte[] payload = envelope.verify(EvidenceStatement.TYPE, List.of(host), 1);
        assertThat(EvidenceStatement.parse(payload))
                .isEqualTo(EvidenceStatement.parse(block("json statement").getBytes(UTF_8)));
    }

    @Test
    void the_signed_policy_is_the_example_s_and_takes_two_owners() throws Exception {
        VerificationKey first = key("owner-1-key");
        assertThat(first.id()).isEqualTo(vector("owner-1-key-id"));
        List<VerificationKey> owners = List.of(first, key("owner-2-key"));
        DsseEnvelope envelope = DsseEnvelope.parse(vector("policy").getBytes(UTF_8), POLICY_ENVELOPE);
        assertThat(ProjectPolicy.open(envelope, owners, 2))
                .isEqualTo(ProjectPolicy.parse(block("json policy").getBytes(UTF_8)));
        assertThat(ProjectPolicy.hash(envelope.verify(ProjectPolicy.TYPE, owners, 2)))
                .hasToString(vector("policy-hash"));
        assertThatThrownBy(() -> ProjectPolicy.open(envelope, List.of(first), 2))
                .isInstanceOf(EnvelopeRefusedException.class);
    }

    @Test
    void the_binding_is_computed_as_described() {
        assertThat(CircuitBinding.of("server certificate".getBytes(US_ASCII), "client certificate".getBytes(US_ASCII)))
                .hasToString(vector("binding"));
        assertThat(page).contains("`" + CircuitBinding.LABEL + "`").contains("`" + CircuitBinding.TYPE + "`");
    }

    /** The examples belong together: the host of the statement is the policy's, and a verifier believes it. */
    @Test
    void the_examples_fit_each_other() throws Exception {
        ProjectPolicy policy = ProjectPolicy.parse(block("json policy").getBytes(UTF_8));
        EvidenceStatement statement =
                EvidenceStatement.parse(block("json statement").getBytes(UTF_8));
        DsseEnvelope envelope = DsseEnvelope.parse(vector("statement").getBytes(UTF_8), STATEMENT_ENVELOPE);
        ReferenceValues expected = new ReferenceValues(
                statement.facts().role(),
                statement.facts().ticket(),
                statement.facts().slot(),
                key("host-key"),
                false,
                statement.claim().nonce(),
                statement.claim().keys().signing(),
                statement.claim().binding(),
                true,
                false,
                false,
                0);
        assertThat(EvidenceVerifier.appraise(policy, expected, envelope, statement.issued()))
                .isInstanceOf(AttestationResult.Accepted.class);
        assertThat(PolicySuccession.problems(
                        policy.project(), Optional.empty(), policy, Instant.parse("2026-07-01T00:00:00Z")))
                .singleElement()
                .asString()
                .startsWith("loosens: want nothing in a first policy");
    }

    @Test
    void the_table_has_every_clause_in_its_order() {
        int decision = page.indexOf("### Decision");
        List<String> rows = new ArrayList<>();
        Matcher row = Pattern.compile("^\\| `([a-z]+)` \\| ([^|]+) \\| [^|]+ \\| [^|]+ \\|$", Pattern.MULTILINE)
                .matcher(page.substring(decision, page.indexOf("### Vectors", decision)));
        while (row.find()) {
            rows.add(row.group(1) + ": " + row.group(2));
        }
        assertThat(rows)
                .isEqualTo(Arrays.stream(EvidenceClause.values())
                        .map(clause -> clause.id() + ": " + clause.denies())
                        .toList());
    }

    @Test
    void types_and_limits() {
        assertThat(page)
                .contains("`" + EvidenceStatement.TYPE + "`")
                .contains("`" + ProjectPolicy.TYPE + "`")
                .contains("`" + EvidenceStatement.FORMAT + "`")
                .contains("`" + ProjectPolicy.FORMAT + "`")
                .contains("1 to " + DsseEnvelope.MAX_SIGNATURES + " signatures")
                .contains(": " + VerificationKey.ID_LENGTH + " characters")
                .contains("slots from 0 to 65,535")
                .contains("up to " + EvidenceStatement.MAX_ATTACHMENTS + " of `type`")
                .contains("at most " + EvidenceStatement.MAX_ATTACHMENT / 1024 + " KiB)")
                .contains("The payload has at most " + EvidenceStatement.MAX_BYTES / 1024 + " KiB.")
                .contains("The payload has at most " + ProjectPolicy.MAX_BYTES / 1024 / 1024 + " MiB.")
                .contains("at most " + ProjectPolicy.MAX_VALIDITY.toDays() + " days")
                .contains("within " + ProjectPolicy.MAX_OVERLAP.toDays() + " days")
                .contains("1 to " + ProjectPolicy.MAX_IMAGES + " image identities")
                .contains("1 to " + String.format(Locale.ROOT, "%,d", ProjectPolicy.MAX_HOSTS) + " hosts")
                .contains("1 to " + String.format(Locale.ROOT, "%,d", ProjectPolicy.MAX_RELEASES) + ", all VMs");
        assertThat(VmFacts.MAX_SLOT).isEqualTo(65_535);
        assertThat(ProjectPolicy.MAX_SERIAL).isEqualTo(1L << 53);
        // Base64 makes 4 of 3; the rest is 32 signatures and what stands between.
        assertThat(STATEMENT_ENVELOPE).isGreaterThan(EvidenceStatement.MAX_BYTES / 3 * 4 + 8192);
        assertThat(POLICY_ENVELOPE).isGreaterThan(ProjectPolicy.MAX_BYTES / 3 * 4 + 8192);
    }

    private VerificationKey key(String name) throws IOException {
        return VerificationKey.parse(Base64.getDecoder().decode(vector(name)));
    }

    private String vector(String name) {
        return Objects.requireNonNull(vectors.get(name), name);
    }

    private String block(String kind) {
        Matcher block =
                Pattern.compile("```" + kind + "\n(.*?)```", Pattern.DOTALL).matcher(page);
        assertThat(block.find()).as(kind).isTrue();
        return block.group(1);
    }

    private static Map<String, String> vectors(String page) {
        Map<String, String> vectors = new HashMap<>();
        Matcher line =
                Pattern.compile("^([a-z0-9-]+): (\\S+)$", Pattern.MULTILINE).matcher(page);
        while (line.find()) {
            vectors.put(line.group(1), line.group(2));
        }
        return vectors;
    }
}

package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.junit.jupiter.api.Test;

/** Holds sections 3, 5 and 6 of docs/protocol.md, their vectors and their tables, against the code. */
class CertifiedIdentityDocumentTest {
    private static final Pattern VECTORS = Pattern.compile("```vectors\n(.*?)```", Pattern.DOTALL);

    private final String document =
            Files.readString(Path.of(System.getProperty("cloister.root", "..")).resolve("docs/protocol.md"));
    private final Map<String, String> vectors = new HashMap<>();

    CertifiedIdentityDocumentTest() throws IOException {
        for (int section : new int[] {3, 5, 6}) {
            Matcher blocks = VECTORS.matcher(section(section));
            assertThat(blocks.find()).as("vectors of section " + section).isTrue();
            blocks.group(1).lines().forEach(line -> {
                int colon = line.indexOf(": ");
                vectors.put(line.substring(0, colon), line.substring(colon + 2));
            });
        }
    }

    private String section(int number) {
        int from = document.indexOf("\n## " + number + ". ");
        return document.substring(from, document.indexOf("\n## " + (number + 1) + ". "));
    }

    private String text(String name) {
        assertThat(vectors).containsKey(name);
        return vectors.getOrDefault(name, "");
    }

    private byte[] json(String name) {
        return text(name).getBytes(StandardCharsets.UTF_8);
    }

    private byte[] base64(String name) {
        return BinaryText.fromBase64(text(name), 1 << 16);
    }

    private VerificationKey key(String name) throws IOException {
        return VerificationKey.parse(base64(name));
    }

    private Instant at() {
        return Instant.parse(text("at"));
    }

    @Test
    void keys_have_the_ids_that_the_document_gives() throws Exception {
        assertThat(key("key").id()).isEqualTo(text("key-id"));
    }

    @Test
    void the_key_file_opens_with_its_passphrase() throws Exception {
        SigningKeyFile file = SigningKeyFile.parse(json("key-file"));
        assertThat(file.publicKey()).isEqualTo(key("key"));
        SigningKey key = file.open(json("passphrase"));
        assertThat(key("key").verifies(new byte[] {7}, key.sign(new byte[] {7})))
                .isTrue();
        assertThat(new String(file.json(), StandardCharsets.UTF_8)).isEqualTo(text("key-file"));
    }

    @Test
    void the_genesis_and_its_successor_are_a_history() throws Exception {
        ProjectHistory project = ProjectHistory.fromGenesis(json("genesis"));
        assertThat(project.id()).isEqualTo(text("project"));
        assertThat(ProjectDocument.idOf(json("genesis-payload"))).isEqualTo(text("project"));
        assertThat(project.ownerKeys()).contains(key("key"));
        ProjectHistory later = project.with(json("successor"));
        assertThat(later.number()).isOne();
        assertThat(later.owners().owners()).hasSize(3);
        assertThat(ProjectDocument.parseSuccessor(json("successor-payload")).owners())
                .isEqualTo(later.owners());
    }

    @Test
    void the_invitation_is_signed_by_an_owner_and_written_as_it_stands() throws Exception {
        ProjectInvitation invitation = ProjectInvitation.read(json("invitation"));
        assertThat(invitation.owners().id()).isEqualTo(text("project"));
        assertThat(invitation.relay()).isEqualTo("relay.example.org:7443");
        assertThat(invitation.certificate()).contains(ByteString.copyFrom(base64("opener")));
        assertThat(invitation.site()).containsExactly(ByteString.copyFromUtf8("s"));
        assertThat(invitation.policy()).isEqualTo(ByteString.copyFromUtf8("p"));
        assertThat(invitation.payload())
                .isEqualTo(DsseEnvelope.parse(json("invitation"), ProjectInvitation.MAX_BYTES)
                        .unverifiedPayload());
    }

    @Test
    void the_worker_verifies_below_its_controlling_VM_and_opener() throws Exception {
        ProjectHistory project = ProjectHistory.fromGenesis(json("genesis"));
        RevocationList list = RevocationList.read(base64("owner-list"), project.ownerKeys());
        CertifiedIdentity worker = CertificateChain.parse(
                        List.of(base64("worker"), base64("controller"), base64("opener")))
                .verify(
                        List.of(CertificateRole.WORKER),
                        TrustAnchors.none().withProject(project),
                        RevocationLists.none().with(list, at()),
                        at());
        assertThat(worker.name()).hasToString(text("worker-name"));
    }

    @Test
    void the_enrolment_is_proven_by_its_token_and_its_host_verifies() throws Exception {
        EnrolmentRequest request = EnrolmentRequest.parse(json("enrolment"));
        assertThat(request.isProvenBy(key("token-public"))).isTrue();
        assertThat(new String(request.json(), StandardCharsets.UTF_8)).isEqualTo(text("enrolment"));
        try (EnrolmentToken token = EnrolmentToken.parse(json("token"))) {
            assertThat(EnrolmentRequest.first(request.request(), token).isProvenBy(key("token-public")))
                    .isTrue();
        }
        RevocationList list = RevocationList.read(base64("site-list"), List.of(key("site-key")));
        assertThat(list.serials()).hasSize(1);
        CertifiedIdentity host = CertificateChain.parse(List.of(base64("host")))
                .verify(
                        List.of(CertificateRole.HOST),
                        TrustAnchors.none().withSite(List.of(key("site-key"))),
                        RevocationLists.none().with(list, at()),
                        at());
        assertThat(host.key()).isEqualTo(request.request().key());
    }

    @Test
    void the_approval_is_signed_by_the_site_and_written_as_it_stands() throws Exception {
        ProjectApproval approval = ProjectApproval.read(json("approval"), List.of(key("site-key")));
        assertThat(new String(approval.payload(), StandardCharsets.UTF_8)).isEqualTo(text("approval-payload"));
        assertThat(approval.project()).isEqualTo(text("project"));
    }

    @Test
    void the_tables_list_every_role_with_its_curve_and_every_clause_of_chains() {
        for (CertificateRole role : CertificateRole.values()) {
            String curve = role.curve() == SignatureCurve.P256 ? "P-256" : "P-384";
            String below = role.isSite() ? "site" : "project";
            assertThat(section(3)).contains("| `" + role + "` | " + below + " | " + curve + " |");
        }
        Set<IdentityClause> ofChains = EnumSet.range(IdentityClause.CHAIN, IdentityClause.REVOKED);
        String table = ofChains.stream().map(clause -> "| `" + clause + "` |").collect(Collectors.joining(".*"));
        assertThat(section(3)).matches(Pattern.compile(".*" + table.replace("|", "\\|") + ".*", Pattern.DOTALL));
        for (IdentityClause clause : List.of(IdentityClause.UNKNOWN, IdentityClause.PROOF, IdentityClause.EXPIRED)) {
            assertThat(section(6)).contains("refused: `" + clause + "`");
        }
    }

    @Test
    void the_payload_types_are_the_documents() {
        assertThat(section(5)).contains(ProjectDocument.GENESIS).contains(ProjectDocument.SUCCESSOR);
        assertThat(section(6)).contains(ProjectApproval.TYPE);
    }
}

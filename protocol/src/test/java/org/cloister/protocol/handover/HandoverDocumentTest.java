package org.cloister.protocol.handover;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.TestFrames;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.BootIdentity;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.Opening;
import org.junit.jupiter.api.Test;

/** Compares sections 3, 10 and 11 of docs/protocol.md, on booting VMs, with the code. */
class HandoverDocumentTest {
    private final String page = Files.readString(Path.of(System.getProperty("cloister.root"), "docs", "protocol.md"));
    private final Map<String, String> vectors = vectors(page);

    HandoverDocumentTest() throws IOException {}

    @Test
    void the_assignment_is_the_examples() throws Exception {
        String project = vector("project");
        AssignmentMessage.Assigned assigned = new AssignmentMessage.Assigned(
                WorkerName.of(BootFixture.TICKET, 3, project),
                BootFixture.TICKET,
                3,
                Opening.controller(BootFixture.DRIVE, project),
                List.of(document("genesis"), document("successor")));
        byte[] message = assigned.wire().toByteArray();
        assertThat(Base64.getEncoder().encodeToString(message)).isEqualTo(vector("assignment"));
        assertThat(AssignmentMessage.readResponse(message)).isEqualTo(assigned);
        VmAssignment assignment = VmAssignment.of(assigned);
        assertThat(assignment.project().id()).isEqualTo(project);
        assertThat(assignment.project().number()).isEqualTo(1);
    }

    @Test
    void the_boot_certificate_is_its_vms() throws Exception {
        byte[] der = Base64.getDecoder().decode(vector("boot"));
        X509Certificate certificate = (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
        BootIdentity found = BootCertificate.verify(List.of(certificate), CertificateName.parse(vector("boot-name")));
        assertThat(found.role()).isEqualTo(CertificateRole.WORKER);
        assertThat(found.name()).isEqualTo(WorkerName.of(BootFixture.TICKET, 3, vector("project")));
    }

    @Test
    void short_messages_travel_as_the_examples_show() throws Exception {
        VerifierMessage question = new VerifierMessage.Question(HandoverFixture.NONCE);
        assertThat(framed(question.wire())).isEqualTo(block("verifier-question"));
        VmMessage failure = new VmMessage.Failure(BootPhase.KEYS, "no-mount");
        assertThat(framed(failure.wire())).isEqualTo(block("vm-trouble"));
        VmMessage opened = new VmMessage.Opened(
                6,
                false,
                Optional.of(new VmEndReport(Instant.parse("2026-06-02T09:30:00Z"), "the project cannot start: x")));
        assertThat(framed(opened.wire())).isEqualTo(block("vm-opened"));
        VerifierMessage acknowledgement = new VerifierMessage.Acknowledgement();
        assertThat(framed(acknowledgement.wire())).isEqualTo(block("verifier-acknowledgement"));
    }

    @Test
    void the_hand_over_is_the_examples() throws Exception {
        byte[] bytes = Base64.getDecoder().decode(vector("hand-over"));
        HandoverDocument handOver = (HandoverDocument) VerifierMessage.read(bytes);
        assertThat(handOver.wire().toByteArray()).isEqualTo(bytes);
        assertThat(handOver.target())
                .isEqualTo(new HandoverTarget(BootFixture.TICKET, 3, HandoverFixture.VM, HandoverFixture.NONCE));
        assertThat(handOver.accounts().jobUser().login()).isEqualTo("ben");
        assertThat(HexFormat.of().formatHex(handOver.sealingContext())).isEqualTo(vector("hand-over-context"));
    }

    @Test
    void the_readmission_is_the_examples() throws Exception {
        byte[] bytes = Base64.getDecoder().decode(vector("readmission"));
        ReadmissionGrant readmission = (ReadmissionGrant) VerifierMessage.read(bytes);
        assertThat(readmission.wire().toByteArray()).isEqualTo(bytes);
        HandoverDocument handOver =
                (HandoverDocument) VerifierMessage.read(Base64.getDecoder().decode(vector("hand-over")));
        assertThat(readmission.target()).isEqualTo(handOver.target());
        assertThat(readmission.certificates()).isEqualTo(handOver.certificates());
        assertThat(HexFormat.of().formatHex(readmission.sealingContext())).isEqualTo(vector("readmission-context"));
    }

    @Test
    void the_unlocking_is_the_examples() throws Exception {
        byte[] bytes = Base64.getDecoder().decode(vector("unlock"));
        ProjectUnlock unlock = (ProjectUnlock) VerifierMessage.read(bytes);
        assertThat(unlock.wire().toByteArray()).isEqualTo(bytes);
        assertThat(unlock.target())
                .isEqualTo(new HandoverTarget(BootFixture.OPENING, 0, HandoverFixture.VM, HandoverFixture.NONCE));
        assertThat(unlock.siteKeys())
                .containsExactly(VerificationKey.parse(Base64.getDecoder().decode(vector("site-key"))));
        ProjectHistory project = ProjectHistory.of(
                unlock.documents().stream().map(ByteString::toByteArray).toList());
        assertThat(((HandoverDocument) VerifierMessage.read(Base64.getDecoder().decode(vector("hand-over"))))
                        .name()
                        .project())
                .isEqualTo(project.id());
        assertThat(HexFormat.of().formatHex(unlock.sealingContext(project.id())))
                .isEqualTo(vector("unlock-context"));
    }

    @Test
    void every_message_and_phase_and_number_stands_there() {
        for (BootPhase phase : BootPhase.values()) {
            assertThat(page).contains("`" + phase + "`");
        }
        for (String message : List.of(
                "question",
                "denied",
                "hand_over",
                "unlock",
                "release",
                "beat",
                "shown",
                "no_statement",
                "phase",
                "ready",
                "trouble",
                "part",
                "opened",
                "resume",
                "readmission",
                "readmitted",
                "acknowledgement")) {
            assertThat(page).contains("`" + message + "` |").as(message);
        }
        assertThat(page)
                .contains("`" + SealingContext.HAND_OVER + "`, project, ticket")
                .contains("`" + SealingContext.READMISSION + "`, project, ticket")
                .contains("`" + SealingContext.UNLOCK + "`, project, opening")
                .contains(LoginRules.LEAST_ID + " to " + LoginRules.MOST_ID)
                .contains("1 to " + WorkerAccounts.MAX_USERS + " of `login` (`" + LoginRules.FORM + "`")
                .contains("the 1 to " + ProjectUnlock.MAX_SITE_KEYS + " keys of the site's CA")
                .contains("at most " + ProjectUnlock.MAX_MEMBERS + " bytes")
                .contains("at most " + ProjectUnlock.MAX_SETTINGS + " bytes")
                .contains("up to " + WorkerMount.MAX + " of `export`")
                .contains("1 to " + VmEndReport.MAX_REASON + " printable ASCII characters")
                .contains(HandoverDocument.LEAST_LEASE.toSeconds() + " to " + HandoverDocument.MOST_LEASE.toSeconds()
                        + " s");
        for (String top : FolderPath.TOPS) {
            assertThat(page).contains("`/" + top + "`");
        }
    }

    private static byte[] framed(MessageLite message) {
        return TestFrames.frame(message);
    }

    private byte[] block(String name) {
        Matcher block =
                Pattern.compile("```vector " + name + "\n([0-9a-f\n]+)```").matcher(page);
        assertThat(block.find()).as(name).isTrue();
        return HexFormat.of().parseHex(block.group(1).replace("\n", ""));
    }

    private ByteString document(String name) {
        return ByteString.copyFrom(vector(name), UTF_8);
    }

    private String vector(String name) {
        return Objects.requireNonNull(vectors.get(name), name);
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

package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

class ProjectInvitationTest {
    private static final Instant NOW = Instant.parse("2026-11-28T10:00:00Z");

    private final SigningKey ann;
    private final SigningKey ben;
    private final ProjectHistory project;

    ProjectInvitationTest() throws IOException, GeneralSecurityException {
        ann = KeySamples.signing(SignatureCurve.P384);
        ben = KeySamples.signing(SignatureCurve.P384);
        project = project(ann, ben);
    }

    private static ProjectHistory project(SigningKey ann, SigningKey ben) throws IOException, GeneralSecurityException {
        ProjectOwners owners =
                new ProjectOwners(2, List.of(KeySamples.owner("ann", ann), KeySamples.owner("ben", ben)));
        return ProjectHistory.fromGenesis(KeySamples.sign(
                ProjectDocument.GENESIS, ProjectDocument.genesis(owners, NOW, new SecureRandom()), List.of(ann, ben)));
    }

    private ProjectInvitation invitation(String relay, int certificate) {
        return new ProjectInvitation(
                project,
                NOW.plusMillis(7),
                List.of(ByteString.copyFromUtf8("s")),
                relay,
                ByteString.copyFromUtf8("p"),
                certificate == 0 ? Optional.empty() : Optional.of(ByteString.copyFrom(new byte[certificate])));
    }

    private static byte[] sign(byte[] payload, SigningKey key) throws GeneralSecurityException {
        return KeySamples.sign(ProjectInvitation.TYPE, payload, List.of(key));
    }

    @Test
    void is_read_as_any_one_owner_signed_it() throws Exception {
        ProjectInvitation written = invitation("relay.example.org:7443", 9);
        for (SigningKey owner : List.of(ann, ben)) {
            ProjectInvitation read = ProjectInvitation.read(sign(written.payload(), owner));
            assertThat(read.payload()).isEqualTo(written.payload());
            assertThat(read.owners().id()).isEqualTo(project.id());
            assertThat(read.issued()).isEqualTo(NOW);
            assertThat(read.certificate()).isEqualTo(written.certificate());
        }
        assertThat(ProjectInvitation.read(sign(invitation("[::1]:1", 0).payload(), ann))
                        .certificate())
                .as("an owner's without a certificate")
                .isEmpty();
    }

    @Test
    void is_refused_without_an_owners_signature_or_as_another_kind_of_document() throws Exception {
        byte[] payload = invitation("r:1", 0).payload();
        byte[] other = sign(payload, KeySamples.signing(SignatureCurve.P384));
        byte[] asPolicy = KeySamples.sign("application/vnd.cloister.policy.v1+json", payload, List.of(ann));
        for (byte[] each : List.of(other, asPolicy)) {
            Throwable thrown = catchThrowable(() -> ProjectInvitation.read(each));
            assertThat(((IdentityRefusedException) thrown).clause()).isEqualTo(IdentityClause.SIGNATURES);
        }
    }

    @Test
    void names_the_project_of_its_documents() throws Exception {
        String id = project(ann, ben).id();
        byte[] payload = new String(invitation("r:1", 0).payload(), StandardCharsets.UTF_8)
                .replace("\"" + project.id() + "\"", "\"" + id + "\"")
                .getBytes(StandardCharsets.UTF_8);
        byte[] envelope = sign(payload, ann);
        assertThatThrownBy(() -> ProjectInvitation.read(envelope))
                .hasMessage("documents: want those of " + id + ", have those of " + project.id());
    }

    @Test
    void a_relay_is_a_host_and_a_port() {
        for (String relay : List.of("r:65535", "192.0.2.1:7443", "[2001:db8::1]:443")) {
            assertThat(invitation(relay, 0).relay()).isEqualTo(relay);
        }
        for (String relay : List.of("r", "r:0", "r:65536", "r:07", " r:1", "r:1\n", "a b:1", ":1", "[::1]", "")) {
            assertThatThrownBy(() -> invitation(relay, 0)).as(relay).hasMessageContaining("relay: want HOST:PORT");
        }
    }

    @Test
    void a_certificate_has_a_limit() {
        assertThat(invitation("r:1", CertificateChain.MAX_CERTIFICATE).certificate())
                .isPresent();
        assertThatThrownBy(() -> invitation("r:1", CertificateChain.MAX_CERTIFICATE + 1))
                .hasMessageContaining("certificate: want 1 to 4096 bytes");
    }

    @Test
    void what_is_critical_and_unknown_is_refused() throws Exception {
        String payload = new String(invitation("r:1", 0).payload(), StandardCharsets.UTF_8);
        byte[] more = sign(payload.replace("}", ",\"new\":1}").getBytes(StandardCharsets.UTF_8), ann);
        assertThat(ProjectInvitation.read(more).relay()).isEqualTo("r:1");
        byte[] critical =
                sign(payload.replace("}", ",\"new\":1,\"critical\":[\"new\"]}").getBytes(StandardCharsets.UTF_8), ann);
        assertThatThrownBy(() -> ProjectInvitation.read(critical)).hasMessageContaining("new: critical");
    }

    @Test
    void each_shorter_file_is_malformed() throws Exception {
        byte[] whole = sign(invitation("r:1", 1).payload(), ann);
        for (int length = 0; length < whole.length; length += 97) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> ProjectInvitation.read(part)).isInstanceOf(MalformedException.class);
        }
    }
}

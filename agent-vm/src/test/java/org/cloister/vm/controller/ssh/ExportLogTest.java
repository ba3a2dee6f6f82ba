package org.cloister.vm.controller.ssh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditLogVerifier;
import org.cloister.protocol.audit.AuditSegment;
import org.cloister.protocol.audit.AuditSegmentHeader;
import org.cloister.protocol.audit.AuditVerification;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.controller.unlock.ControllerUnlockFixture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExportLogTest {
    private static final AuditEvent SENT = AuditEvent.of(ControllerUnlockFixture.NOW, "export.begun");

    @TempDir
    private Path folder;

    private ControllerUnlockFixture fixture;
    private SigningKey key;
    private List<X509Certificate> chain;

    @BeforeEach
    void boot() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        fixture = new ControllerUnlockFixture();
        key = SigningKey.of(new KeyPair(fixture.keys.publicKeys().signing().publicKey(), fixture.keys.signing()));
        chain = TlsCredential.of(
                        fixture.keys.signing(),
                        fixture.unlocked()
                                .authority()
                                .issue(fixture.controller, key.verificationKey(), ControllerUnlockFixture.NOW))
                .chain();
    }

    private ExportLog open() throws IOException {
        return ExportLog.open(folder, fixture.controller, key, chain, InstantSource.fixed(ControllerUnlockFixture.NOW));
    }

    private Path signer() {
        return folder.resolve("signer-" + key.verificationKey().id() + ".pem");
    }

    private AuditVerification verify(VerificationKey by) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            List<AuditSegment> segments = files.filter(file -> AuditSegmentHeader.FILE
                            .matcher(file.getFileName().toString())
                            .matches())
                    .map(file -> new AuditSegment(file.toString(), () -> Files.newInputStream(file)))
                    .toList();
            return new AuditLogVerifier(List.of(by), 1).verify(segments, List.of());
        }
    }

    @Test
    void everybody_reads_it_and_the_certificates_of_who_signs() throws Exception {
        try (ExportLog log = open()) {
            log.append(SENT);
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.filter(file -> !file.endsWith("lock")).toList())
                    .hasSize(2)
                    .allSatisfy(file -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                            .isEqualTo("rw-r--r--"));
        }
        assertThat(PemCredentialFile.certificates(signer())).isEqualTo(chain);
        assertThat(verify(key.verificationKey()).isValid()).isTrue();
        assertThat(verify(key.verificationKey()).records()).isEqualTo(2);
    }

    @Test
    void nothing_is_signed_while_its_certificates_cannot_be_laid() throws Exception {
        Path inTheWay = folder.resolve("." + signer().getFileName() + ".new").resolve("file");
        Files.createDirectories(inTheWay.getParent());
        Files.createFile(inTheWay);
        try (ExportLog log = open()) {
            assertThatThrownBy(() -> log.append(SENT)).isInstanceOf(IOException.class);
            assertThat(folder).isDirectoryNotContaining("glob:**.jsonl");
            Files.delete(inTheWay);
            log.append(SENT);
        }
        assertThat(signer()).exists();
        assertThat(verify(key.verificationKey()).records()).isEqualTo(2);
    }

    @Test
    void a_log_that_does_not_hold_lets_nothing_out_and_is_left_as_it_is() throws Exception {
        Path segment = Files.writeString(folder.resolve(AuditSegmentHeader.fileName(2)), "nonsense\n");
        try (ExportLog log = open()) {
            assertThatThrownBy(() -> log.append(SENT))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(segment.toString());
        }
        assertThat(segment).hasContent("nonsense\n");
    }
}

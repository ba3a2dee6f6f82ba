package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.ticket.ProjectAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that admitted workers are known after a restart, whatever stops the controlling VM. */
class AdmittedWorkersTest {
    private static final String TICKET = "b".repeat(26);

    private final AdmittedWorker first = guest(TICKET, 0);

    @TempDir
    private Path folder;

    AdmittedWorkersTest() throws IOException {}

    private static VerificationKey key(SignatureCurve curve) throws IOException {
        return SigningKey.of(BootFixture.pair(curve)).verificationKey();
    }

    private static AdmittedWorker guest(String ticket, int slot) throws IOException {
        return new AdmittedWorker(
                ticket,
                slot,
                "v".repeat(26),
                new BootPublicKeys(key(SignatureCurve.P384), key(SignatureCurve.P384)),
                key(SignatureCurve.P256),
                Digest.sha384("image"),
                ProjectAddress.parse("10.64.12." + (5 + slot)),
                1001,
                1000);
    }

    @Test
    void who_was_written_is_found_after_a_start_and_forgotten_with_the_ticket_alone() throws IOException {
        AdmittedWorkers records = AdmittedWorkers.open(folder);
        AdmittedWorker second = guest(TICKET, 11);
        AdmittedWorker other = guest("c".repeat(26), 0);
        for (AdmittedWorker each : List.of(first, second, other)) {
            records.write(each);
            records.add(each);
        }
        for (AdmittedWorkers each : new AdmittedWorkers[] {records, AdmittedWorkers.open(folder)}) {
            assertThat(each.find(TICKET, 0)).contains(first);
            assertThat(each.find(TICKET, 11)).contains(second);
            assertThat(each.find(TICKET, 1)).isEmpty();
        }
        records.forget(TICKET);
        records.delete(TICKET);
        for (AdmittedWorkers each : new AdmittedWorkers[] {records, AdmittedWorkers.open(folder)}) {
            assertThat(each.find(TICKET, 0)).isEmpty();
            assertThat(each.find(TICKET, 11)).isEmpty();
            assertThat(each.find(other.ticket(), 0)).contains(other);
        }
        records.forget(TICKET);
        records.delete(TICKET);
    }

    @Test
    void what_a_kill_left_of_a_guest_that_was_given_nothing_is_in_the_way_of_nobody() throws IOException {
        AdmittedWorkers.open(folder).write(first);
        Files.writeString(folder.resolve(TICKET + "-1.guest.new"), "{\"for");
        assertThat(AdmittedWorkers.open(folder).find(TICKET, 0)).contains(first);
        assertThat(AdmittedWorkers.open(folder).find(TICKET, 1)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "cloister-vm-guest-v1|cloister-vm-guest-v2",
                "\"slot\":0|\"slot\":4096",
                "\"slot\":0|\"slot\":-1",
                "\"slot\":0|\"slot\":1",
                "\"uid\":1001|\"uid\":0",
                "\"gid\":1000|\"gid\":60001",
                "10.64.12.5|10.64.12.05",
                "\"uid\":1001|\"uid\":1001,\"home\":\"/root\"",
                "\"signing\":\"M|\"signing\":\"N",
            })
    void a_book_with_a_file_that_is_none_of_ours_is_not_opened(String from, String to) throws IOException {
        String written = new String(first.write(), StandardCharsets.UTF_8);
        assertThat(written).contains(from);
        Path file = folder.resolve(TICKET + "-0.guest");
        Files.writeString(file, written.replace(from, to));
        assertThatThrownBy(() -> AdmittedWorkers.open(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString());
    }

    @Test
    void a_file_that_is_too_long_or_another_guests_is_refused() throws IOException {
        Path file = folder.resolve(TICKET + "-1.guest");
        Files.write(file, first.write());
        assertThatThrownBy(() -> AdmittedWorkers.open(folder)).hasMessageContaining("want the file's name");
        Files.writeString(file, " ".repeat(AdmittedWorker.MAX_BYTES + 1));
        assertThatThrownBy(() -> AdmittedWorkers.open(folder)).hasMessageContaining("want at most");
    }
}

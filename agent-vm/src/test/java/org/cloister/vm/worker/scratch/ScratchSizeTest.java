package org.cloister.vm.worker.scratch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.process.ProcessRunner;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.VolumeFormat;
import org.cloister.luks.volume.VolumeIntegrity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests sizes with the real LUKS2 header and the real mkfs.ext4, on files that are mostly holes. */
class ScratchSizeTest {
    private static final long MIB = 1 << 20;
    private static final int HEADER_COPY = 64 << 10;
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final ProcessRunner PROGRAMS = ProcessRunner.local();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 64, 127, 500, 1000, 5000, 40_000, 1_000_000, 3_000_000})
    void a_job_finds_at_least_what_it_asked_for(int offered) throws Exception {
        long disk = ScratchSize.disk(offered) * MIB;
        Path inside = file("inside", disk - header(disk));

        List<String> make = new ArrayList<>(ScratchVolume.FILE_SYSTEM);
        make.add(inside.toString());
        assertThat(PROGRAMS.run("", make, LIMIT).exit()).isZero();

        String output = PROGRAMS.runChecked("dumpe2fs", "-h", inside.toString());
        long blocks = number(output, "Block count: +(\\d+)") - number(output, "Overhead clusters: +(\\d+)");
        assertThat(blocks * number(output, "Block size: +(\\d+)")).isGreaterThanOrEqualTo(offered * MIB);
        assertThat(output).doesNotContain("has_journal");
    }

    @Test
    void no_disk_is_larger_than_a_ticket_can_ask_for() {
        assertThatThrownBy(() -> ScratchSize.disk(16_777_216))
                .hasMessage("scratch: want a disk of at most 16777216 MiB for what a job may ask for, have 17076834 for"
                        + " 16777216");
    }

    /** What comes before the data. */
    private long header(long disk) throws Exception {
        Path file = file("disk", disk);
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
        try (SecretMemory key = secrets.random(VolumeIntegrity.NONE.volumeKeyLength())) {
            Cryptsetup.load()
                    .create(file, VolumeFormat.labelled("worker/size"), key)
                    .close();
        }
        byte[] text = new byte[HEADER_COPY];
        try (RandomAccessFile reader = new RandomAccessFile(file.toFile(), "r")) {
            reader.readFully(text);
        }
        return number(new String(text, StandardCharsets.ISO_8859_1), "\"offset\":\"(\\d+)\",\"size\":\"dynamic\"");
    }

    private Path file(String name, long bytes) throws IOException {
        Path file = Files.createFile(folder.resolve(name));
        try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
            made.setLength(bytes);
        }
        return file;
    }

    private static long number(String text, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(text);
        assertThat(found.find()).as(pattern).isTrue();
        return Long.parseLong(found.group(1));
    }
}

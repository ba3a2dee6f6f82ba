package org.cloister.vm.system.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DisksBySerialTest {
    @TempDir
    private Path blocks;

    private void disk(String name, String serial) throws IOException {
        Files.writeString(Files.createDirectory(blocks.resolve(name)).resolve("serial"), serial);
    }

    @Test
    void a_disk_is_known_by_its_serial_and_there_is_one_of_it_or_none() throws IOException {
        Files.createDirectory(blocks.resolve("loop0"));
        disk("vda", "layer-base");
        DisksBySerial disks = new DisksBySerial(blocks);
        assertThat(disks.find("scratch")).isEmpty();
        disk("vdb", "scratch\n");
        assertThat(disks.find("scratch")).contains(Path.of("/dev/vdb"));
        disk("vdc", "scratch");
        assertThatThrownBy(() -> disks.find("scratch")).hasMessageContaining("want one");
    }
}

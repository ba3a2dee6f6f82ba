package org.cloister.vm.controller.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClientSlurmConfTest {
    @TempDir
    private Path folder;

    private ClientSlurmConf at(String name) {
        return new ClientSlurmConf(folder.resolve(name), Path.of("/etc/slurm/slurm.conf"));
    }

    @Test
    void includes_the_clusters_and_names_the_nodes_that_there_are_now() throws IOException {
        ClientSlurmConf clients = at("slurm.conf");
        clients.writeNodes(Map.of("vm-b-0", "10.1.0.2", "vm-a-0", "10.1.0.1"));
        assertThat(folder.resolve("slurm.conf")).hasContent("""
                Include /etc/slurm/slurm.conf
                NodeName=vm-a-0 NodeAddr=10.1.0.1
                NodeName=vm-b-0 NodeAddr=10.1.0.2
                """);
        clients.writeNodes(Map.of());
        assertThat(folder.resolve("slurm.conf")).hasContent("Include /etc/slurm/slurm.conf\n");
    }

    @Test
    void is_written_when_the_nodes_are_others_and_not_else() throws IOException {
        ClientSlurmConf clients = at("slurm.conf");
        clients.writeNodes(Map.of("vm-a-0", "10.1.0.1"));
        Files.delete(folder.resolve("slurm.conf"));
        clients.writeNodes(Map.of("vm-a-0", "10.1.0.1"));
        assertThat(folder.resolve("slurm.conf")).doesNotExist();
    }

    @Test
    void what_could_not_be_written_is_written_with_the_next_look() throws IOException {
        ClientSlurmConf clients = at("missing/slurm.conf");
        clients.writeNodes(Map.of("vm-a-0", "10.1.0.1"));
        Files.createDirectory(folder.resolve("missing"));
        clients.writeNodes(Map.of("vm-a-0", "10.1.0.1"));
        assertThat(folder.resolve("missing/slurm.conf")).content().endsWith("NodeName=vm-a-0 NodeAddr=10.1.0.1\n");
    }

    @Test
    void names_no_node_whose_address_is_none() {
        assertThatThrownBy(() -> at("slurm.conf").writeNodes(Map.of("a", "1 Port=7")))
                .isInstanceOf(IllegalArgumentException.class);
    }
}

package org.cloister.vm.controller.slurm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.slurm.HostlistExpander;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slurm.conf of commands on the controlling VM: it includes the cluster's own and lists all present nodes, so that
 * commands reach running jobs after a restart of slurmctld. slurmctld 22.05 then no longer provides the addresses of
 * nodes that joined at run time. The file has the form of the one that the prolog writes for each job. Confined to one
 * thread.
 */
public final class ClientSlurmConf {
    private static final Logger LOG = LoggerFactory.getLogger(ClientSlurmConf.class);
    private static final Pattern ADDRESS = Pattern.compile("[0-9A-Za-z.:_-]{1,63}");

    private final Path file;
    private final Path include;
    private String written = "";
    private boolean failed;

    /**
     * @param file on tmpfs; users' {@code SLURM_CONF}
     * @param include the cluster's own slurm.conf
     */
    public ClientSlurmConf(Path file, Path include) {
        this.file = file;
        this.include = include;
    }

    /**
     * Writes the file if its content would change; a failure is logged once, and the next call retries.
     *
     * @param addresses of the nodes that slurmctld has, by name
     */
    public void writeNodes(Map<String, String> addresses) {
        String text = text(addresses);
        if (text.equals(written)) {
            return;
        }
        try {
            WorldReadableFile.replace(file, text.getBytes(StandardCharsets.US_ASCII));
            written = text;
            failed = false;
        } catch (IOException e) {
            if (!failed) {
                LOG.warn(
                        "{}: cannot be written, so srun reaches no job that is older than slurmctld's start: {}",
                        file,
                        e.toString());
            }
            failed = true;
        }
    }

    private String text(Map<String, String> addresses) {
        return "Include " + include + "\n"
                + new TreeMap<>(addresses)
                        .entrySet().stream()
                                .map(node -> line(node.getKey(), node.getValue()))
                                .collect(Collectors.joining());
    }

    private static String line(String name, String address) {
        if (!HostlistExpander.NODE.matcher(name).matches()
                || !ADDRESS.matcher(address).matches()) {
            throw new IllegalArgumentException(
                    "slurm.conf: want a node's name and address, have " + name + " at " + address);
        }
        return "NodeName=" + name + " NodeAddr=" + address + "\n";
    }
}

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
 * The slurm.conf of commands on the controlling VM: the cluster's own and all nodes there are, so that they reach into running
 * jobs although slurmctld was started anew since: of 22.05 it then tells the addresses no more of nodes that joined at run
 * time. Of the same form as that which the prolog writes for each job. Of one thread.
 */
public final class ClientSlurmConf {
    private static final Logger LOG = LoggerFactory.getLogger(ClientSlurmConf.class);
    private static final Pattern ADDRESS = Pattern.compile("[0-9A-Za-z.:_-]{1,63}");

    private final Path file;
    private final Path include;
    private String written = "";
    private boolean failing;

    /**
     * @param file on tmpfs; users' {@code SLURM_CONF}
     * @param include the cluster's own
     */
    public ClientSlurmConf(Path file, Path include) {
        this.file = file;
        this.include = include;
    }

    /**
     * Writes it if it would be another one; what cannot be written is logged once and tried with the next.
     *
     * @param addresses of the nodes that slurmctld has, by their names
     */
    public void writeNodes(Map<String, String> addresses) {
        String text = text(addresses);
        if (text.equals(written)) {
            return;
        }
        try {
            WorldReadableFile.replace(file, text.getBytes(StandardCharsets.US_ASCII));
            written = text;
            failing = false;
        } catch (IOException e) {
            if (!failing) {
                LOG.warn("{}: not written, so srun reaches no job that ran before slurmctld: {}", file, e.toString());
            }
            failing = true;
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

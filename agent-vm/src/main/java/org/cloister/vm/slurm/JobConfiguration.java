package org.cloister.vm.slurm;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.slurm.NodeNames;

/**
 * A slurm.conf that names nodes which joined at run time, for commands that must reach them although slurmctld was started
 * anew since: of 22.05 it then tells their addresses no more. A job has one on each worker, which the prolog writes; the
 * commands on the controlling VM have one of all nodes.
 *
 * @param include the cluster's own, as slurmctld has it or gave it to slurmd
 * @param addresses of nodes by their names
 */
public record JobConfiguration(Path include, Map<String, String> addresses) {
    private static final Pattern ADDRESS = Pattern.compile("[0-9A-Za-z.:_-]{1,63}");

    public JobConfiguration {
        addresses = Map.copyOf(addresses);
        addresses.forEach((name, address) -> {
            if (!NodeNames.NODE.matcher(name).matches()
                    || !ADDRESS.matcher(address).matches()) {
                throw new IllegalArgumentException(
                        "slurm.conf: want a node's name and address, have " + name + " at " + address);
            }
        });
    }

    public String text() {
        return "Include " + include + "\n"
                + new TreeMap<>(addresses)
                        .entrySet().stream()
                                .map(node -> "NodeName=" + node.getKey() + " NodeAddr=" + node.getValue() + "\n")
                                .collect(Collectors.joining());
    }
}

package org.cloister.vm.system.names;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Address;

/**
 * The machines that this one knows by name: each name and each address occurs once, so that a reverse lookup yields the
 * same name, as MPI and munge require.
 *
 * @param own this machine's name, one of them
 */
public record NodeAddresses(String own, Map<String, Ipv4Address> byName) {
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    /**
     * Checks the names and addresses.
     *
     * @throws IllegalArgumentException if a name is malformed, the own name is missing, or an address occurs twice
     */
    public NodeAddresses {
        byName = Map.copyOf(byName);
        Set<Ipv4Address> seen = new HashSet<>();
        byName.forEach((name, address) -> {
            if (!NAME.matcher(name).matches() || name.equals("localhost")) {
                throw new IllegalArgumentException("node: want a name " + NAME + ", have " + name);
            }
            if (!seen.add(address)) {
                throw new IllegalArgumentException("node " + name + ": want an address of its own, have " + address);
            }
        });
        if (!byName.containsKey(own)) {
            throw new IllegalArgumentException("nodes: want " + own + " among them, have " + byName.keySet());
        }
    }

    /** Returns the content of {@code /etc/hosts}, ordered by address. */
    String hosts() {
        StringBuilder text = new StringBuilder("127.0.0.1 localhost\n");
        Map<String, Ipv4Address> ordered = new LinkedHashMap<>();
        byName.entrySet().stream()
                .sorted(Map.Entry.comparingByValue())
                .forEach(each -> ordered.put(each.getKey(), each.getValue()));
        ordered.forEach(
                (name, address) -> text.append(address).append(' ').append(name).append('\n'));
        return text.toString();
    }
}

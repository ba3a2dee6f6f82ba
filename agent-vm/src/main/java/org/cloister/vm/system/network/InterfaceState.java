package org.cloister.vm.system.network;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.base.process.ProcessRunner;

/**
 * State of a network interface as {@code ip -json address} reports it.
 *
 * @param addresses of IPv4 and IPv6, each with its prefix
 */
record InterfaceState(String name, String mac, int mtu, boolean up, List<String> addresses) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9][a-zA-Z0-9_.-]{0,14}");

    InterfaceState {
        addresses = List.copyOf(addresses);
    }

    static List<InterfaceState> list(ProcessRunner programs) throws IOException {
        return parse(programs.runChecked("ip", "-json", "address", "show"));
    }

    /**
     * Returns the interface with this MAC address.
     *
     * @throws IOException if there is not exactly one
     */
    static InterfaceState withMac(List<InterfaceState> interfaces, String mac) throws IOException {
        List<InterfaceState> found =
                interfaces.stream().filter(each -> each.mac.equals(mac)).toList();
        if (found.size() != 1 || !NAME.matcher(found.get(0).name).matches()) {
            throw new IOException("interface with MAC " + mac + ": want one, have "
                    + found.stream().map(InterfaceState::name).toList() + " of "
                    + interfaces.stream().map(InterfaceState::name).toList());
        }
        return found.get(0);
    }

    static List<InterfaceState> parse(String text) throws IOException {
        List<InterfaceState> interfaces = new ArrayList<>();
        try {
            for (JsonNode each : JSON.readTree(text)) {
                List<String> addresses = new ArrayList<>();
                for (JsonNode address : each.path("addr_info")) {
                    addresses.add(address.path("local").asText() + "/"
                            + address.path("prefixlen").asInt());
                }
                interfaces.add(new InterfaceState(
                        each.path("ifname").asText(),
                        each.path("address").asText(),
                        each.path("mtu").asInt(),
                        contains(each.path("flags"), "UP"),
                        addresses));
            }
        } catch (JsonProcessingException e) {
            throw new IOException("ip -json address: want JSON, have something else", e);
        }
        return interfaces;
    }

    private static boolean contains(JsonNode flags, String name) {
        for (JsonNode flag : flags) {
            if (flag.asText().equals(name)) {
                return true;
            }
        }
        return false;
    }
}

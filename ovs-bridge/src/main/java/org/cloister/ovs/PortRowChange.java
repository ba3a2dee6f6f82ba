package org.cloister.ovs;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.cloister.ovs.BridgeRows.PortRow;
import org.cloister.ovs.io.OvsException.Malformed;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.cloister.ovs.ovsdb.OvsdbRow;
import org.cloister.ovs.ovsdb.OvsdbTransaction;
import org.jspecify.annotations.Nullable;

/**
 * Computes the one transaction that changes the present rows to those that plans require. Rows that another program
 * made are not in it.
 */
final class PortRowChange {
    /**
     * The lowest port number: vswitchd assigns the numbers below by itself. The highest is below those that OpenFlow
     * reserves.
     */
    private static final int FIRST_NUMBER = 1024;

    private static final int LAST_NUMBER = 65_000;

    private final BridgeConfig config;
    private final BridgeRows rows;
    private final OvsdbTransaction transaction = new OvsdbTransaction();
    private final List<BridgeDifference> differences = new ArrayList<>();
    private final List<PlanRefused> conflicts = new ArrayList<>();
    private final List<JsonNode> newPorts = new ArrayList<>();
    private final List<JsonNode> gonePorts = new ArrayList<>();
    private final Set<Long> usedNumbers = new TreeSet<>();
    private int lastNumber;
    private boolean ofBridge;

    private PortRowChange(BridgeConfig config, BridgeRows rows) {
        this.config = config;
        this.rows = rows;
    }

    static PortRowChange between(BridgeRows rows, PortPlanSet plans, BridgeConfig config) throws Malformed {
        PortRowChange change = new PortRowChange(config, rows);
        OvsdbRow bridge = rows.bridge();
        change.lastNumber = bridge == null ? FIRST_NUMBER : lastNumber(bridge);
        rows.ports().values().forEach(row -> row.number().ifPresent(change.usedNumbers::add));
        change.ports(plans);
        change.uplink();
        change.finish(bridge);
        return change;
    }

    boolean isEmpty() {
        return transaction.isEmpty();
    }

    /** Returns whether the bridge itself changes: vswitchd discards its flows with some of its settings. */
    boolean isOfBridge() {
        return ofBridge;
    }

    boolean addsPorts() {
        return !newPorts.isEmpty();
    }

    OvsdbTransaction transaction() {
        return transaction;
    }

    List<BridgeDifference> differences() {
        return differences;
    }

    /** Returns the plans that cannot be carried out because of ports that another program made; the others can. */
    List<PlanRefused> conflicts() {
        return conflicts;
    }

    private void ports(PortPlanSet plans) {
        for (PortRow row : rows.ports().values()) {
            boolean ours = row.isOf(config.agent()) && !row.isUplink();
            if (ours && plans.get(row.device()) == null) {
                remove(row, "absent");
            }
        }
        for (PortPlan plan : plans.plans()) {
            PortRow row = rows.ports().get(plan.device());
            Map<String, String> labels = plans.labels(plan.device());
            if (row == null) {
                insert(plan.device(), plan.vlan(), PortLabels.with(config.agent(), labels));
            } else if (!row.isOf(config.agent())) {
                conflicts.add(new PlanRefused(
                        "port " + plan.device(),
                        "a port of " + config.agent() + ", or none",
                        "one that another made, with " + row.labels(),
                        "remove it with ovs-vsctl del-port, or give the plan another device"));
            } else {
                keep(plan, row, labels);
            }
        }
    }

    private void keep(PortPlan plan, PortRow row, Map<String, String> labels) {
        Map<String, String> all = PortLabels.with(config.agent(), labels);
        if (!row.isFor(plan, labels)) {
            // The next change creates it again: vswitchd may fail to remove and add a device at once.
            remove(row, "for " + plan.self() + " of " + plan.owner());
        } else if (!PortLabels.isSame(row.labels(), labels)) {
            differences.add(new BridgeDifference(
                    "port " + plan.device(), all.toString(), row.labels().toString()));
            transaction.update("Port", row.port(), Map.of("external_ids", OvsdbTransaction.map(all)));
        }
    }

    private void uplink() {
        String device = config.uplink();
        if (device != null && !rows.ports().containsKey(device)) {
            insert(device, null, Map.of(PortLabels.AGENT, config.agent(), PortLabels.UPLINK, "true"));
        }
    }

    private void remove(PortRow row, String should) {
        differences.add(new BridgeDifference("port " + row.device(), should, "there with " + row.labels()));
        gonePorts.add(OvsdbTransaction.uuid(row.port()));
    }

    private void insert(String device, @Nullable Integer vlan, Map<String, String> labels) {
        int number = nextNumber();
        differences.add(new BridgeDifference("port " + device, "there", "absent"));
        String named = "new" + newPorts.size();
        transaction.insert(
                "Interface",
                named + "i",
                Map.of("name", OvsdbTransaction.text(device), "ofport_request", OvsdbTransaction.number(number)));
        Map<String, JsonNode> port = new HashMap<>();
        port.put("name", OvsdbTransaction.text(device));
        port.put("interfaces", OvsdbTransaction.named(named + "i"));
        port.put("external_ids", OvsdbTransaction.map(labels));
        if (vlan != null) {
            port.put("tag", OvsdbTransaction.number(vlan));
            port.put("vlan_mode", OvsdbTransaction.text("access"));
        }
        transaction.insert("Port", named, port);
        newPorts.add(OvsdbTransaction.named(named));
    }

    /** Returns the next port number. A released number is reused as late as possible: all others are used first. */
    private int nextNumber() {
        do {
            lastNumber = lastNumber >= LAST_NUMBER ? FIRST_NUMBER : lastNumber + 1;
        } while (usedNumbers.contains((long) lastNumber));
        return lastNumber;
    }

    private void finish(@Nullable OvsdbRow bridge) throws Malformed {
        if (bridge == null) {
            create();
        } else {
            settings(bridge);
            String last = Integer.toString(lastNumber);
            if (!newPorts.isEmpty()) {
                transaction.mutate("Bridge", bridge.uuid(), "ports", "insert", OvsdbTransaction.set(newPorts));
                // A map's key must be removed before it can be inserted with another value.
                transaction.mutate(
                        "Bridge",
                        bridge.uuid(),
                        "external_ids",
                        "delete",
                        OvsdbTransaction.set(List.of(OvsdbTransaction.text(BridgeRows.LAST_NUMBER))));
                transaction.mutate(
                        "Bridge",
                        bridge.uuid(),
                        "external_ids",
                        "insert",
                        OvsdbTransaction.map(Map.of(BridgeRows.LAST_NUMBER, last)));
            }
            if (!gonePorts.isEmpty()) {
                transaction.mutate("Bridge", bridge.uuid(), "ports", "delete", OvsdbTransaction.set(gonePorts));
            }
            if (!transaction.isEmpty()) {
                transaction.require("Bridge", bridge.uuid());
            }
        }
        if (!transaction.isEmpty()) {
            transaction.comment(config.agent() + ": " + differences.size() + " differences on " + config.bridge());
        }
    }

    private void settings(OvsdbRow bridge) throws Malformed {
        Map<String, JsonNode> wrong = new TreeMap<>();
        if (!bridge.text("fail_mode").equals("secure")) {
            differences.add(new BridgeDifference("fail_mode", "secure", "\"" + bridge.text("fail_mode") + "\""));
            wrong.put("fail_mode", OvsdbTransaction.text("secure"));
        }
        for (String column : new TreeSet<>(BridgeRows.EMPTY_COLUMNS)) {
            Set<UUID> others = bridge.references(column);
            if (!others.isEmpty()) {
                differences.add(new BridgeDifference(column, "empty", others.toString()));
                wrong.put(column, OvsdbTransaction.set(List.of()));
            }
        }
        Map<String, String> other = new TreeMap<>(bridge.labels("other_config"));
        if (!"true".equals(other.put(BridgeRows.IN_BAND, "true"))) {
            differences.add(new BridgeDifference("other_config:" + BridgeRows.IN_BAND, "true", "unset"));
            wrong.put("other_config", OvsdbTransaction.map(other));
        }
        if (!wrong.isEmpty()) {
            transaction.update("Bridge", bridge.uuid(), wrong);
            ofBridge = true;
        }
    }

    private void create() {
        differences.add(new BridgeDifference("bridge " + config.bridge(), "there", "absent"));
        transaction.insert(
                "Interface",
                "locali",
                Map.of("name", OvsdbTransaction.text(config.bridge()), "type", OvsdbTransaction.text("internal")));
        transaction.insert(
                "Port",
                "local",
                Map.of("name", OvsdbTransaction.text(config.bridge()), "interfaces", OvsdbTransaction.named("locali")));
        newPorts.add(OvsdbTransaction.named("local"));
        transaction.insert(
                "Bridge",
                "bridge",
                Map.of(
                        "name", OvsdbTransaction.text(config.bridge()),
                        "datapath_type", OvsdbTransaction.text(config.datapath()),
                        "fail_mode", OvsdbTransaction.text("secure"),
                        "other_config", OvsdbTransaction.map(Map.of(BridgeRows.IN_BAND, "true")),
                        "external_ids",
                                OvsdbTransaction.map(Map.of(
                                        PortLabels.AGENT,
                                        config.agent(),
                                        BridgeRows.LAST_NUMBER,
                                        Integer.toString(lastNumber))),
                        "ports", OvsdbTransaction.set(newPorts)));
        transaction.mutate(
                "Open_vSwitch",
                rows.root(),
                "bridges",
                "insert",
                OvsdbTransaction.set(List.of(OvsdbTransaction.named("bridge"))));
    }

    private static int lastNumber(OvsdbRow bridge) throws Malformed {
        String text = bridge.labels("external_ids").getOrDefault(BridgeRows.LAST_NUMBER, "");
        if (!text.matches("\\d{4,5}")) {
            return FIRST_NUMBER;
        }
        return Math.min(Math.max(Integer.parseInt(text), FIRST_NUMBER), LAST_NUMBER);
    }
}

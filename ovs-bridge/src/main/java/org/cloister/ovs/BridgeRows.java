package org.cloister.ovs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.cloister.ovs.io.OvsException.Malformed;
import org.cloister.ovs.ovsdb.OvsdbColumns;
import org.cloister.ovs.ovsdb.OvsdbColumns.Kind;
import org.cloister.ovs.ovsdb.OvsdbReplica;
import org.cloister.ovs.ovsdb.OvsdbRow;
import org.jspecify.annotations.Nullable;

/**
 * OVSDB's rows of one bridge.
 *
 * @param root of the database
 * @param bridge null when no bridge has the name
 * @param ports by device
 */
record BridgeRows(UUID root, @Nullable OvsdbRow bridge, Map<String, PortRow> ports) {
    /** Columns through which another program could copy frames or steer flows; they are empty on a secure bridge. */
    static final Set<String> EMPTY_COLUMNS = Set.of("controller", "mirrors", "netflow", "sflow", "ipfix");

    static final String IN_BAND = "disable-in-band";

    /** Shows the agent's own bookkeeping to readers of the database. */
    static final String LAST_NUMBER = "cloister-last-number";

    static final OvsdbColumns COLUMNS = new OvsdbColumns(Map.of(
            "Open_vSwitch",
            Map.of("cur_cfg", Kind.SCALAR, "next_cfg", Kind.SCALAR),
            "Bridge",
            Map.of(
                    "name", Kind.SCALAR,
                    "ports", Kind.MANY,
                    "fail_mode", Kind.SCALAR,
                    "external_ids", Kind.MANY,
                    "other_config", Kind.MANY,
                    "controller", Kind.MANY,
                    "mirrors", Kind.MANY,
                    "netflow", Kind.SCALAR,
                    "sflow", Kind.SCALAR,
                    "ipfix", Kind.SCALAR),
            "Port",
            Map.of("name", Kind.SCALAR, "tag", Kind.SCALAR, "interfaces", Kind.MANY, "external_ids", Kind.MANY),
            "Interface",
            Map.of(
                    "name", Kind.SCALAR,
                    "ofport", Kind.SCALAR,
                    "ofport_request", Kind.SCALAR,
                    "error", Kind.SCALAR)));

    /**
     * A port with one interface, as this module creates it; of a bond, the first interface.
     *
     * @param number assigned by vswitchd, or -1 when it could not open the device
     */
    record PortRow(
            UUID port, String device, OptionalLong tag, Map<String, String> labels, OptionalLong number, String error) {
        boolean isOf(String agent) {
            return agent.equals(labels.get(PortLabels.AGENT));
        }

        boolean isUplink() {
            return labels.containsKey(PortLabels.UPLINK);
        }

        boolean isFor(PortPlan plan, Map<String, String> planLabels) {
            return tag.orElse(0) == plan.vlan() && PortLabels.isSameStation(labels, planLabels);
        }

        /** Returns the plan in the labels; null if the labels do not form a plan. */
        @Nullable
        PortPlan plan() {
            try {
                return PortLabels.plan(device, tag.orElse(0), labels);
            } catch (Malformed e) {
                return null;
            }
        }
    }

    /** Returns the last change that vswitchd has carried out; reads no other column. */
    static long currentCfg(OvsdbReplica database) throws Malformed {
        for (OvsdbRow root : database.rows("Open_vSwitch")) {
            return root.number("cur_cfg").orElse(0);
        }
        return 0;
    }

    static BridgeRows of(OvsdbReplica database, String name) throws Malformed {
        if (database.rows("Open_vSwitch").size() != 1) {
            throw new Malformed(
                    "OVSDB",
                    "one row in Open_vSwitch",
                    database.rows("Open_vSwitch").size() + "");
        }
        OvsdbRow root = database.rows("Open_vSwitch").iterator().next();
        OvsdbRow bridge = null;
        for (OvsdbRow row : database.rows("Bridge")) {
            if (row.text("name").equals(name)) {
                bridge = row;
            }
        }
        Map<String, PortRow> ports = new TreeMap<>();
        if (bridge != null) {
            for (UUID uuid : bridge.references("ports")) {
                OvsdbRow port = database.row("Port", uuid);
                if (port != null) {
                    PortRow row = port(database, port);
                    ports.put(row.device(), row);
                }
            }
        }
        return new BridgeRows(root.uuid(), bridge, ports);
    }

    /** Returns the plans in the rows of an agent's ports; a row whose labels form no plan has none. */
    List<PortPlan> plans(String agent) {
        List<PortPlan> plans = new ArrayList<>();
        for (PortRow row : ports.values()) {
            PortPlan plan = row.isOf(agent) ? row.plan() : null;
            if (plan != null) {
                plans.add(plan);
            }
        }
        return plans;
    }

    private static PortRow port(OvsdbReplica database, OvsdbRow port) throws Malformed {
        OptionalLong number = OptionalLong.empty();
        String error = "";
        for (UUID uuid : port.references("interfaces")) {
            OvsdbRow row = database.row("Interface", uuid);
            if (row != null) {
                number = row.number("ofport");
                error = row.text("error");
            }
        }
        return new PortRow(
                port.uuid(), port.text("name"), port.number("tag"), port.labels("external_ids"), number, error);
    }
}

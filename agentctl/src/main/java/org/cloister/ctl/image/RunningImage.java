package org.cloister.ctl.image;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.cloister.ctl.output.CommandOutput;
import org.cloister.ctl.output.TextTable;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Layers of a guest's root file system as seen from within: those that the command line names, lowest first, then any
 * other mapped layer. It finds accidents only, because a manipulated guest can report anything; evidence detects
 * manipulation.
 */
public record RunningImage(List<RunningLayer> layers) implements CommandOutput {
    private static final String WORD = "cloister.layer=";
    private static final String DEVICE = "layer-";

    public RunningImage {
        layers = List.copyOf(layers);
    }

    public static RunningImage of(InspectedMachine machine) throws UndeterminedException {
        Map<String, String> requested = wanted(machine.read("/proc/cmdline").orElse(""));
        Set<String> mapped = mapped(machine);
        if (requested.isEmpty() && mapped.isEmpty()) {
            throw new UndeterminedException(
                    "no " + WORD + " on the kernel's command line: this machine is no Cloister guest",
                    "run it in a guest");
        }
        Set<String> names = new LinkedHashSet<>(requested.keySet());
        names.addAll(mapped);
        List<RunningLayer> layers = new ArrayList<>();
        for (String name : names) {
            layers.add(
                    mapped.contains(name)
                            ? RunningLayer.of(machine, name, Optional.ofNullable(requested.get(name)))
                            : RunningLayer.absent(name, "on the command line, and not mapped"));
        }
        return new RunningImage(layers);
    }

    public boolean isWhole() {
        return layers.stream().allMatch(layer -> layer.difference().isEmpty());
    }

    /** Maps NAME to BLOCKS,HASH. A name that occurs twice is a contradiction and matches nothing. */
    private static Map<String, String> wanted(String commandLine) {
        Map<String, String> requested = new LinkedHashMap<>();
        for (String word : commandLine.strip().split("\\s+", -1)) {
            if (word.startsWith(WORD)) {
                String[] parts = word.substring(WORD.length()).split(",", 2);
                String rest = parts.length > 1 ? parts[1] : "nothing";
                requested.merge(parts[0], rest, (first, second) -> first + " and " + second);
            }
        }
        return requested;
    }

    private static Set<String> mapped(InspectedMachine machine) throws UndeterminedException {
        Set<String> mapped = new LinkedHashSet<>();
        for (String block : machine.list("/sys/block").orElse(List.of())) {
            if (block.matches("dm-[0-9]+")) {
                machine.read("/sys/block/" + block + "/dm/name")
                        .map(String::strip)
                        .filter(name -> name.matches("layer-[a-z][a-z0-9-]{0,13}"))
                        .ifPresent(name -> mapped.add(name.substring(DEVICE.length())));
            }
        }
        return mapped;
    }

    @Override
    public TextTable table() {
        TextTable table = new TextTable();
        for (RunningLayer layer : layers) {
            table.row(
                    layer.name(),
                    layer.rootHash().orElse("-"),
                    word(layer.status()),
                    layer.difference().orElse(""));
        }
        return table;
    }

    @Override
    public ObjectNode document() {
        ObjectNode document = JsonNodeFactory.instance.objectNode().put("whole", isWhole());
        ArrayNode list = document.putArray("layers");
        for (RunningLayer layer : layers) {
            ObjectNode node = list.addObject().put("name", layer.name()).put("status", word(layer.status()));
            layer.rootHash().ifPresent(hash -> node.put("rootHash", hash));
            layer.difference().ifPresent(text -> node.put("difference", text));
        }
        return document;
    }

    private static String word(RunningLayer.Status status) {
        return status.name().toLowerCase(Locale.ROOT);
    }
}

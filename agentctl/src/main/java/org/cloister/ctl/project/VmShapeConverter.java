package org.cloister.ctl.project;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.ctl.opening.MebibyteConverter;
import org.cloister.protocol.policy.VmShape;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts a VM's size such as {@code cpus=8,memory=32G} or {@code cpus=64,memory=256G,scratch=1T}. */
final class VmShapeConverter implements ITypeConverter<VmShape> {
    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,8}");
    private static final MebibyteConverter SIZE = new MebibyteConverter();
    private static final Set<String> NAMES = Set.of("cpus", "memory", "scratch");

    @Override
    public VmShape convert(String text) {
        Map<String, String> parts = new LinkedHashMap<>();
        for (String part : text.split(",", -1)) {
            String[] pair = part.split("=", 2);
            if (pair.length < 2 || !NAMES.contains(pair[0]) || parts.put(pair[0], pair[1]) != null) {
                throw refused(text);
            }
        }
        if (!parts.containsKey("memory")
                || !NUMBER.matcher(parts.getOrDefault("cpus", "")).matches()) {
            throw refused(text);
        }
        try {
            return new VmShape(
                    Long.parseLong(parts.getOrDefault("cpus", "")),
                    SIZE.convert(parts.getOrDefault("memory", "")),
                    parts.getOrDefault("scratch", "0").equals("0")
                            ? 0
                            : SIZE.convert(parts.getOrDefault("scratch", "")));
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    private static TypeConversionException refused(String text) {
        return new TypeConversionException(
                "want a size such as cpus=8,memory=32G or cpus=64,memory=256G,scratch=1T, have \"" + text + "\"");
    }
}

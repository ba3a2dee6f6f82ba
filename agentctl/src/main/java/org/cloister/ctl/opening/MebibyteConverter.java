package org.cloister.ctl.opening;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.ticket.ResourceRequest;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts a size such as {@code 512M}, {@code 8G} or {@code 2T} to MiB. */
public final class MebibyteConverter implements ITypeConverter<Integer> {
    private static final Pattern FORM = Pattern.compile("([1-9][0-9]{0,8})([MGT])");

    @Override
    public Integer convert(String text) {
        Matcher matcher = FORM.matcher(text);
        long size = matcher.matches() ? Long.parseLong(matcher.group(1)) << shift(matcher.group(2)) : 0;
        if (size < 1 || size > ResourceRequest.MAX_MIB) {
            throw new TypeConversionException("want 1M to 16T, such as 8G, have \"" + text + "\"");
        }
        return (int) size;
    }

    private static int shift(String unit) {
        return switch (unit) {
            case "M" -> 0;
            case "G" -> 10;
            default -> 20;
        };
    }
}

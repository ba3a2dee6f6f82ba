package org.cloister.ctl.host;

import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts and checks the name of a VM or a ticket for agent-host. */
final class VmNameOption implements ITypeConverter<String> {
    private static final Pattern FORM = Pattern.compile("[a-z0-9-]{1,64}");

    @Override
    public String convert(String text) {
        if (!FORM.matcher(text).matches()) {
            throw new TypeConversionException("want up to 64 of a-z, 0-9 and -, have " + text);
        }
        return text;
    }
}

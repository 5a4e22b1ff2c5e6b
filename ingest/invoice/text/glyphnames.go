package text

import (
	"strconv"
	"strings"
)

// glyphTable lists glyph names by code point for the scripts that invoices of
// Europe use (facts of the Adobe Glyph List); single letters name themselves.
const glyphTable = `
0020=space,spacehackarabic 0021=exclam 0022=quotedbl 0023=numbersign 0024=dollar 0025=percent 0026=ampersand 0027=quotesingle 0028=parenleft
0029=parenright 002A=asterisk 002B=plus 002C=comma 002D=hyphen 002E=period 002F=slash 0030=zero 0031=one 0032=two 0033=three 0034=four
0035=five 0036=six 0037=seven 0038=eight 0039=nine 003A=colon 003B=semicolon 003C=less 003D=equal 003E=greater 003F=question 0040=at
005B=bracketleft 005C=backslash 005D=bracketright 005E=asciicircum 005F=underscore 0060=grave 007B=braceleft 007C=bar,verticalbar
007D=braceright 007E=asciitilde 007F=controlDEL 00A0=nbspace,nonbreakingspace 00A1=exclamdown 00A2=cent 00A3=sterling 00A4=currency 00A5=yen
00A6=brokenbar 00A7=section 00A8=dieresis 00A9=copyright 00AA=ordfeminine 00AB=guillemotleft 00AC=logicalnot 00AD=sfthyphen,softhyphen
00AE=registered 00AF=macron,overscore 00B0=degree 00B1=plusminus 00B2=twosuperior 00B3=threesuperior 00B4=acute 00B5=mu,mu1 00B6=paragraph
00B7=middot,periodcentered 00B8=cedilla 00B9=onesuperior 00BA=ordmasculine 00BB=guillemotright 00BC=onequarter 00BD=onehalf
00BE=threequarters 00BF=questiondown 00C0=Agrave 00C1=Aacute 00C2=Acircumflex 00C3=Atilde 00C4=Adieresis 00C5=Aring 00C6=AE 00C7=Ccedilla
00C8=Egrave 00C9=Eacute 00CA=Ecircumflex 00CB=Edieresis 00CC=Igrave 00CD=Iacute 00CE=Icircumflex 00CF=Idieresis 00D0=Eth 00D1=Ntilde
00D2=Ograve 00D3=Oacute 00D4=Ocircumflex 00D5=Otilde 00D6=Odieresis 00D7=multiply 00D8=Oslash 00D9=Ugrave 00DA=Uacute 00DB=Ucircumflex
00DC=Udieresis 00DD=Yacute 00DE=Thorn 00DF=germandbls 00E0=agrave 00E1=aacute 00E2=acircumflex 00E3=atilde 00E4=adieresis 00E5=aring 00E6=ae
00E7=ccedilla 00E8=egrave 00E9=eacute 00EA=ecircumflex 00EB=edieresis 00EC=igrave 00ED=iacute 00EE=icircumflex 00EF=idieresis 00F0=eth
00F1=ntilde 00F2=ograve 00F3=oacute 00F4=ocircumflex 00F5=otilde 00F6=odieresis 00F7=divide 00F8=oslash 00F9=ugrave 00FA=uacute
00FB=ucircumflex 00FC=udieresis 00FD=yacute 00FE=thorn 00FF=ydieresis 0100=Amacron 0101=amacron 0102=Abreve 0103=abreve 0104=Aogonek
0105=aogonek 0106=Cacute 0107=cacute 0108=Ccircumflex 0109=ccircumflex 010A=Cdot,Cdotaccent 010B=cdot,cdotaccent 010C=Ccaron 010D=ccaron
010E=Dcaron 010F=dcaron 0110=Dcroat,Dslash 0111=dcroat,dmacron 0112=Emacron 0113=emacron 0114=Ebreve 0115=ebreve 0116=Edot,Edotaccent
0117=edot,edotaccent 0118=Eogonek 0119=eogonek 011A=Ecaron 011B=ecaron 011C=Gcircumflex 011D=gcircumflex 011E=Gbreve 011F=gbreve
0120=Gdot,Gdotaccent 0121=gdot,gdotaccent 0122=Gcedilla,Gcommaaccent 0123=gcedilla,gcommaaccent 0124=Hcircumflex 0125=hcircumflex 0126=Hbar
0127=hbar 0128=Itilde 0129=itilde 012A=Imacron 012B=imacron 012C=Ibreve 012D=ibreve 012E=Iogonek 012F=iogonek 0130=Idot,Idotaccent
0131=dotlessi 0132=IJ 0133=ij 0134=Jcircumflex 0135=jcircumflex 0136=Kcedilla,Kcommaaccent 0137=kcedilla,kcommaaccent 0138=kgreenlandic
0139=Lacute 013A=lacute 013B=Lcedilla,Lcommaaccent 013C=lcedilla,lcommaaccent 013D=Lcaron 013E=lcaron 013F=Ldot,Ldotaccent
0140=ldot,ldotaccent 0141=Lslash 0142=lslash 0143=Nacute 0144=nacute 0145=Ncedilla,Ncommaaccent 0146=ncedilla,ncommaaccent 0147=Ncaron
0148=ncaron 0149=napostrophe,quoterightn 014A=Eng 014B=eng 014C=Omacron 014D=omacron 014E=Obreve 014F=obreve 0150=Odblacute,Ohungarumlaut
0151=odblacute,ohungarumlaut 0152=OE 0153=oe 0154=Racute 0155=racute 0156=Rcedilla,Rcommaaccent 0157=rcedilla,rcommaaccent 0158=Rcaron
0159=rcaron 015A=Sacute 015B=sacute 015C=Scircumflex 015D=scircumflex 015E=Scedilla 015F=scedilla 0160=Scaron 0161=scaron
0162=Tcedilla,Tcommaaccent 0163=tcedilla,tcommaaccent 0164=Tcaron 0165=tcaron 0166=Tbar 0167=tbar 0168=Utilde 0169=utilde 016A=Umacron
016B=umacron 016C=Ubreve 016D=ubreve 016E=Uring 016F=uring 0170=Udblacute,Uhungarumlaut 0171=udblacute,uhungarumlaut 0172=Uogonek
0173=uogonek 0174=Wcircumflex 0175=wcircumflex 0176=Ycircumflex 0177=ycircumflex 0178=Ydieresis 0179=Zacute 017A=zacute 017B=Zdot,Zdotaccent
017C=zdot,zdotaccent 017D=Zcaron 017E=zcaron 017F=longs,slong 0192=florin 0218=Scommaaccent 0219=scommaaccent 0237=dotlessj 02C6=circumflex
02C7=caron 02D8=breve 02D9=dotaccent 02DA=ring 02DB=ogonek 02DC=ilde,tilde 02DD=hungarumlaut 0391=Alpha 0392=Beta 0393=Gamma 0394=Deltagreek
0395=Epsilon 0396=Zeta 0397=Eta 0398=Theta 0399=Iota 039A=Kappa 039B=Lambda 039C=Mu 039D=Nu 039E=Xi 039F=Omicron 03A0=Pi 03A1=Rho 03A3=Sigma
03A4=Tau 03A5=Upsilon 03A6=Phi 03A7=Chi 03A8=Psi 03A9=Omegagreek 03AA=Iotadieresis 03AB=Upsilondieresis 03AC=alphatonos 03AD=epsilontonos
03AE=etatonos 03AF=iotatonos 03B0=upsilondieresistonos 03B1=alpha 03B2=beta 03B3=gamma 03B4=delta 03B5=epsilon 03B6=zeta 03B7=eta 03B8=theta
03B9=iota 03BA=kappa 03BB=lambda 03BC=mugreek 03BD=nu 03BE=xi 03BF=omicron 03C0=pi 03C1=rho 03C2=sigma1,sigmafinal 03C3=sigma 03C4=tau
03C5=upsilon 03C6=phi 03C7=chi 03C8=psi 03C9=omega 2010=hyphentwo 2012=figuredash 2013=endash 2014=emdash 2015=horizontalbar
2016=dblverticalbar 2017=dbllowline,underscoredbl 2018=quoteleft 2019=quoteright 201A=quotesinglbase 201B=quoteleftreversed,quotereversed
201C=quotedblleft 201D=quotedblright 201E=quotedblbase 2020=dagger 2021=daggerdbl 2022=bullet 2024=onedotenleader
2025=twodotenleader,twodotleader 2026=ellipsis 2030=perthousand 2032=minute 2033=second 2035=primereversed 2039=guilsinglleft
203A=guilsinglright 203B=referencemark 203C=exclamdbl 203E=overline 2042=asterism 2044=fraction 20A1=colonmonetary,colonsign 20A2=cruzeiro
20A3=franc 20A4=lira 20A7=peseta 20A9=won 20AA=newsheqelsign,sheqel,sheqelhebrew 20AB=dong 20AC=Euro 2116=numero 2122=trademark
2126=Ohm,Omega 2212=minus 2215=divisionslash 2219=bulletoperator 2260=notequal 2264=lessequal 2265=greaterequal 25A0=blacksquare,filledbox
25CB=circle,whitecircle 25CF=H18533,blackcircle 2713=checkmark FB00=ff FB01=fi FB02=fl FB03=ffi FB04=ffl
`

// glyphNames maps a glyph's name to its character.
var glyphNames = func() map[string]rune {
	names := map[string]rune{}
	for entry := range strings.FieldsSeq(glyphTable) {
		code, list, _ := strings.Cut(entry, "=")
		r, err := strconv.ParseUint(code, 16, 32)
		if err != nil {
			continue
		}
		for name := range strings.SplitSeq(list, ",") {
			names[name] = rune(r)
		}
	}
	return names
}()

// glyphText returns the text of a glyph name, empty when it says nothing:
// "Adieresis", "uni20AC", "u1F600", "f_i", "a.sc".
func glyphText(name string) string {
	name, _, _ = strings.Cut(name, ".")
	if parts := strings.Split(name, "_"); len(parts) > 1 && len(parts) < 6 {
		var out strings.Builder
		for _, p := range parts {
			out.WriteString(glyphText(p))
		}
		return out.String()
	}
	if len(name) == 1 {
		return name
	}
	if r, ok := glyphNames[name]; ok {
		return string(r)
	}
	for _, prefix := range []string{"uni", "u"} {
		digits, ok := strings.CutPrefix(name, prefix)
		if !ok || len(digits) < 4 || len(digits) > 6 {
			continue
		}
		if prefix == "uni" {
			digits = digits[:4]
		}
		if r, err := strconv.ParseUint(digits, 16, 32); err == nil && r >= 32 {
			return string(rune(r))
		}
	}
	return ""
}

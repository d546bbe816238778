(function(){"use strict";
document.querySelectorAll("input[data-filters]").forEach(function(input){
input.closest("p").hidden=false;
var rows=Array.from(document.getElementById(input.dataset.filters).tBodies[0].rows);
input.addEventListener("input",function(){var wanted=input.value.toLowerCase();
rows.forEach(function(row){row.hidden=row.textContent.toLowerCase().indexOf(wanted)<0;});});});
document.querySelectorAll("table.sortable").forEach(function(table){
Array.from(table.tHead.rows[0].cells).forEach(function(head,place){
var button=document.createElement("button");button.type="button";
while(head.firstChild){button.appendChild(head.firstChild);}head.appendChild(button);
button.addEventListener("click",function(){
var up=head.getAttribute("aria-sort")!=="ascending";
Array.from(table.tHead.rows[0].cells).forEach(function(other){other.removeAttribute("aria-sort");});
head.setAttribute("aria-sort",up?"ascending":"descending");
var key=function(row){var text=row.cells[place].textContent.trim();var number=parseFloat(text.replace(/^about /,""));return isNaN(number)?text.toLowerCase():number;};
var rows=Array.from(table.tBodies[0].rows);
rows.sort(function(a,b){var x=key(a),y=key(b);if(typeof x!==typeof y){return typeof x==="number"?-1:1;}
return (x<y?-1:x>y?1:0)*(up?1:-1);});
rows.forEach(function(row){table.tBodies[0].appendChild(row);});});});});
}());
